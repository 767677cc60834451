import {
  ArchiveChannel,
  ChangeChannel,
  CreateChannel,
  FindChannelId,
  ListChannels,
  ListSubscriptions,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { ListTopics } from '@parley/domain/messages';
import type { ChannelId, UserId } from '@parley/domain/shared';
import { type Route, route } from '../routing/route.js';
import {
  ChangeChannelDto,
  CreateChannelDto,
  FindChannelIdDto,
  ListChannelsDto,
  ListSubscriptionsDto,
  ListTopicsDto,
  OneChannelDto,
  SubscribeUsersDto,
  toChannelChange,
  toChannelOptions,
  toPrincipals,
  UnsubscribeUsersDto,
} from './channel.dtos.js';
import {
  presentChannels,
  presentSubscribeUsers,
  presentSubscriptions,
  presentTopics,
  presentUnsubscribeUsers,
} from './channel.presenters.js';

const toChannelId = ({ stream_id }: { readonly stream_id: number }) => ({ channelId: stream_id as ChannelId });

export const channelRoutes: readonly Route[] = [
  route('GET', '/streams', {
    auth: 'user',
    isExpensive: true,
    dto: ListChannelsDto,
    useCase: ListChannels,
    toInput: (dto) => ({
      includePublic: dto.include_public,
      includeWebPublic: dto.include_web_public,
      includeSubscribed: dto.include_subscribed,
      includeOwnerSubscribed: dto.include_owner_subscribed,
      includeReadable: dto.include_can_access_content,
      includeAll: dto.include_all,
      includeAllActive: dto.include_all_active,
      excludeArchived: dto.exclude_archived,
      includeDefault: dto.include_default,
    }),
    present: (output, { dto }) => presentChannels(output, dto.include_default),
  }),
  route('POST', '/channels/create', {
    auth: 'user',
    roleRequirements: ['member'],
    dto: CreateChannelDto,
    useCase: CreateChannel,
    toInput: (dto) => ({
      ...toChannelOptions(dto),
      name: dto.name,
      description: dto.description,
      subscriberIds: dto.subscribers as UserId[],
      announce: dto.announce,
    }),
    present: (id) => ({ id }),
  }),
  route('PATCH', '/streams/:stream_id', {
    auth: 'user',
    dto: ChangeChannelDto,
    useCase: ChangeChannel,
    toInput: toChannelChange,
  }),
  route('DELETE', '/streams/:stream_id', {
    auth: 'user',
    dto: OneChannelDto,
    useCase: ArchiveChannel,
    toInput: toChannelId,
  }),
  route('GET', '/users/me/subscriptions', {
    auth: 'user',
    isExpensive: true,
    dto: ListSubscriptionsDto,
    useCase: ListSubscriptions,
    toInput: (dto) => ({ includeSubscribers: dto.include_subscribers !== 'false' }),
    present: presentSubscriptions,
  }),
  route('POST', '/users/me/subscriptions', {
    auth: 'user',
    isExpensive: true,
    roleRequirements: ['member'],
    dto: SubscribeUsersDto,
    useCase: SubscribeUsers,
    toInput: (dto) => ({
      channels: dto.subscriptions.map(({ name, color = null, description = '' }) => ({ name, color, description })),
      principals: toPrincipals(dto.principals),
      options: toChannelOptions(dto),
      announce: dto.announce,
      failsOnInaccessible: dto.authorization_errors_fatal,
      notifyNewSubscribers: dto.send_new_subscription_messages,
    }),
    present: (output, { dto }) => presentSubscribeUsers(output, dto),
  }),
  route('DELETE', '/users/me/subscriptions', {
    auth: 'user',
    dto: UnsubscribeUsersDto,
    useCase: UnsubscribeUsers,
    toInput: (dto) => ({
      channelNames: dto.subscriptions,
      principals: toPrincipals(dto.principals),
    }),
    present: presentUnsubscribeUsers,
  }),
  route('GET', '/get_stream_id', {
    auth: 'user',
    dto: FindChannelIdDto,
    useCase: FindChannelId,
    toInput: ({ stream }) => ({ name: stream }),
    present: (id) => ({ stream_id: id }),
  }),
  route('GET', '/users/me/:stream_id/topics', {
    auth: 'user',
    dto: ListTopicsDto,
    useCase: ListTopics,
    toInput: toChannelId,
    present: (topics, { dto }) => presentTopics(topics, dto.allow_empty_topic_name),
  }),
];
