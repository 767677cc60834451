import {
  ArchiveChannel,
  ChangeChannel,
  ChangeSubscriptionProperties,
  ChangeSubscriptions,
  CreateChannel,
  FindChannelId,
  GetChannel,
  GetChannelAddress,
  GetSubscriptionStatus,
  ListChannels,
  type ListChannelsInput,
  type ListChannelsOutput,
  ListSubscribers,
  ListSubscriptions,
  ListUserChannels,
  MuteTopic,
  SetTopicPolicy,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { ListTopics, SpectateTopics } from '@parley/domain/messages';
import type { ChannelId, UserId } from '@parley/domain/shared';
import { Turns } from '../caching/turns.js';
import { PresentedList } from '../routing/json-lists.js';
import { presentLongList } from '../routing/long-list.js';
import { type Route, route } from '../routing/route.js';
import * as wire from '../routing/wire-schema.js';
import {
  CHANGED_SUBSCRIPTIONS,
  CHANNELS,
  ONE_CHANNEL,
  SUBSCRIBED,
  SUBSCRIPTIONS,
  TOPICS,
  UNSUBSCRIBED,
} from './channel.answers.js';
import {
  ChangeChannelDto,
  ChangeSubscriptionPropertiesDto,
  ChangeSubscriptionPropertyDto,
  ChangeSubscriptionsDto,
  CreateChannelDto,
  FindChannelIdDto,
  GetChannelAddressDto,
  GetSubscriptionStatusDto,
  ListChannelsDto,
  ListSubscriptionsDto,
  ListTopicsDto,
  ListUserChannelsDto,
  MuteTopicDto,
  OneChannelDto,
  SetTopicPolicyDto,
  SubscribeUsersDto,
  toChannelChange,
  toChannelOptions,
  toMutedTopic,
  toNewSubscriptions,
  toPrincipals,
  toPropertyChanges,
  toTopicPolicy,
  UnsubscribeUsersDto,
} from './channel.dtos.js';
import {
  presentChangeSubscriptions,
  presentChannel,
  presentListedChannel,
  presentOwnSubscription,
  presentSubscribeUsers,
  presentTopics,
  presentUnsubscribeUsers,
  sharedChannels,
} from './channel.presenters.js';

const toChannelId = ({ stream_id }: { readonly stream_id: number }) => ({ channelId: stream_id as ChannelId });

const toListedChannels = (dto: ListChannelsDto): ListChannelsInput => ({
  includePublic: dto.include_public,
  includeWebPublic: dto.include_web_public,
  includeSubscribed: dto.include_subscribed,
  includeOwnerSubscribed: dto.include_owner_subscribed,
  includeReadable: dto.include_can_access_content,
  includeAll: dto.include_all,
  includeAllActive: dto.include_all_active,
  excludeArchived: dto.exclude_archived,
  includeDefault: dto.include_default,
});

export function channelRoutes(): readonly Route[] {
  const turns = new Turns();
  const presentChannels = ({ channels }: ListChannelsOutput, { include_default }: ListChannelsDto) =>
    presentLongList(
      turns,
      'streams',
      include_default ? new PresentedList(channels, presentListedChannel) : sharedChannels(channels),
    );
  return [
    route('GET', '/streams', {
      auth: 'user',
      isExpensive: true,
      dto: ListChannelsDto,
      useCase: ListChannels,
      toInput: toListedChannels,
      answer: CHANNELS,
      present: (output, { dto }) => presentChannels(output, dto),
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
      answer: wire.fields({ id: wire.integer() }),
      present: (id) => ({ id }),
    }),
    route('GET', '/streams/:stream_id', {
      auth: 'user',
      dto: OneChannelDto,
      useCase: GetChannel,
      toInput: toChannelId,
      answer: ONE_CHANNEL,
      present: (channel) => ({ stream: presentChannel(channel) }),
    }),
    route('GET', '/streams/:stream_id/members', {
      auth: 'user',
      dto: OneChannelDto,
      useCase: ListSubscribers,
      toInput: toChannelId,
      answer: wire.fields({ subscribers: wire.listOf(wire.integer()) }),
      present: (subscribers) => ({ subscribers }),
    }),
    route('GET', '/users/:user_id/subscriptions/:stream_id', {
      auth: 'user',
      dto: GetSubscriptionStatusDto,
      useCase: GetSubscriptionStatus,
      toInput: ({ user_id, stream_id }) => ({ userId: user_id as UserId, channelId: stream_id as ChannelId }),
      answer: wire.fields({ is_subscribed: wire.boolean() }),
      present: (is_subscribed) => ({ is_subscribed }),
    }),
    route('GET', '/users/:user_id/channels', {
      auth: 'user',
      dto: ListUserChannelsDto,
      useCase: ListUserChannels,
      toInput: ({ user_id }) => ({ userId: user_id as UserId }),
      answer: wire.fields({ subscribed_channel_ids: wire.listOf(wire.integer()) }),
      present: (subscribed_channel_ids) => ({ subscribed_channel_ids }),
    }),
    route('GET', '/streams/:stream_id/email_address', {
      auth: 'user',
      dto: GetChannelAddressDto,
      useCase: GetChannelAddress,
      toInput: ({ stream_id, sender_id = null }) => ({
        channelId: stream_id as ChannelId,
        senderId: sender_id as UserId | null,
      }),
      answer: wire.fields({ email: wire.text() }),
      present: (address) => ({ email: address ?? '' }),
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
      answer: SUBSCRIPTIONS,
      present: (subscriptions) =>
        presentLongList(turns, 'subscriptions', new PresentedList(subscriptions, presentOwnSubscription)),
    }),
    route('POST', '/users/me/subscriptions', {
      auth: 'user',
      isExpensive: true,
      roleRequirements: ['member'],
      dto: SubscribeUsersDto,
      useCase: SubscribeUsers,
      toInput: (dto) => ({
        channels: toNewSubscriptions(dto.subscriptions),
        principals: toPrincipals(dto.principals),
        options: toChannelOptions(dto),
        announce: dto.announce,
        failsOnInaccessible: dto.authorization_errors_fatal,
        notifyNewSubscribers: dto.send_new_subscription_messages,
      }),
      answer: SUBSCRIBED,
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
      answer: UNSUBSCRIBED,
      present: presentUnsubscribeUsers,
    }),
    route('PATCH', '/users/me/subscriptions', {
      auth: 'user',
      isExpensive: true,
      dto: ChangeSubscriptionsDto,
      useCase: ChangeSubscriptions,
      toInput: (dto) => ({ add: toNewSubscriptions(dto.add), remove: dto.delete }),
      answer: CHANGED_SUBSCRIPTIONS,
      present: presentChangeSubscriptions,
    }),
    route('POST', '/users/me/subscriptions/properties', {
      auth: 'user',
      dto: ChangeSubscriptionPropertiesDto,
      useCase: ChangeSubscriptionProperties,
      toInput: (dto) => ({ changes: toPropertyChanges(dto.subscription_data) }),
    }),
    route('PATCH', '/users/me/subscriptions/muted_topics', {
      auth: 'user',
      dto: MuteTopicDto,
      useCase: MuteTopic,
      toInput: toMutedTopic,
    }),
    route('PATCH', '/users/me/subscriptions/:stream_id', {
      auth: 'user',
      dto: ChangeSubscriptionPropertyDto,
      useCase: ChangeSubscriptionProperties,
      toInput: (dto) => ({ changes: toPropertyChanges([dto]) }),
    }),
    route('POST', '/user_topics', {
      auth: 'user',
      dto: SetTopicPolicyDto,
      useCase: SetTopicPolicy,
      toInput: toTopicPolicy,
    }),
    route('GET', '/get_stream_id', {
      auth: 'user',
      dto: FindChannelIdDto,
      useCase: FindChannelId,
      toInput: ({ stream }) => ({ name: stream }),
      answer: wire.fields({ stream_id: wire.integer() }),
      present: (id) => ({ stream_id: id }),
    }),
    route('GET', '/users/me/:stream_id/topics', {
      auth: 'user',
      dto: ListTopicsDto,
      useCase: ListTopics,
      toInput: toChannelId,
      answer: TOPICS,
      present: (topics, { dto }) => presentTopics(topics, dto.allow_empty_topic_name),
    }),
    route('GET', '/json/users/me/:stream_id/topics', {
      auth: 'anyone',
      atRoot: true,
      dto: ListTopicsDto,
      useCase: SpectateTopics,
      toInput: toChannelId,
      answer: TOPICS,
      present: (topics, { dto }) => presentTopics(topics, dto.allow_empty_topic_name),
    }),
  ];
}
