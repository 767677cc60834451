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
import type { ChannelId, UserId } from '@parley/domain/kernel';
import { ListTopics, SpectateTopics } from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { type ConversationScope, requirePlace, SHARED_ONLY } from '../declarations/scope.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { PresentedList, presentLongList } from '../params/json-lists.js';
import { badValue, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
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
import { CHANNEL_EVENTS } from './channel.events.js';
import {
  CHANGED_SUBSCRIPTIONS,
  CHANNEL_LIST,
  ONE_CHANNEL,
  presentChangeSubscriptions,
  presentChannel,
  presentListedChannel,
  presentOwnSubscription,
  presentSubscribeUsers,
  presentTopics,
  presentUnsubscribeUsers,
  SUBSCRIBED,
  SUBSCRIPTIONS,
  sharedChannels,
  TOPICS,
  UNSUBSCRIBED,
  WIRE_SUBSCRIPTION_PROPERTIES,
} from './channel.presenters.js';
import {
  channelFoldersSection,
  channelsSection,
  defaultChannelGroupsSection,
  defaultChannelsSection,
  mutedTopicsSection,
  subscriptionsSection,
  userTopicsSection,
} from './channel.register.js';
import { channelListRoutes } from './channel-lists.js';

const EMPTY_TOPIC_NAME = { emptyTopicDisplayName: 'empty_topic_display_name' };
const TOPIC_CREATION_PARAMETERS = 'history_public_to_subscribers, can_create_topic_group';

export const CHANNEL_WIRE_ERRORS = {
  CHANNEL_NAME_TAKEN: { status: 409, code: 'CHANNEL_ALREADY_EXISTS', fields: { channelName: 'channel_name' } },
  CANNOT_ADMINISTER_CHANNEL: { code: 'CANNOT_ADMINISTER_CHANNEL' },
  CANNOT_MANAGE_DEFAULT_CHANNEL: { code: 'CANNOT_MANAGE_DEFAULT_CHANNEL' },
  CHANNEL_HAS_NAMED_TOPICS: { fields: EMPTY_TOPIC_NAME },
  TOPIC_REQUIRED: { fields: EMPTY_TOPIC_NAME },
  EMPTY_TOPIC_REQUIRED: { fields: EMPTY_TOPIC_NAME },
  INVALID_RETENTION: ({ details }) => badValue(details.value, 'message_retention_days'),
  NO_SUBSCRIPTION_CHANGE: { text: 'Nothing to do. Specify at least one of "add" or "delete".' },
  DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED: { text: 'You must pass "new_description" or "new_group_name".' },
  DEFAULT_CHANNEL_GROUP_OPERATION_REQUIRED: {
    text: 'Invalid value for "op". Specify one of "add" or "remove".',
  },
  INVALID_SUBSCRIPTION_VALUE: {
    text: ({ property, expected }) => `${WIRE_SUBSCRIPTION_PROPERTIES[property]} is not ${expected}`,
  },
  TOPIC_CREATION_MUST_BE_OPEN: {
    extra: { parameters: TOPIC_CREATION_PARAMETERS },
    text: `Unsupported parameter combination: ${TOPIC_CREATION_PARAMETERS}`,
  },
} as const satisfies WireErrors;

const LISTING_TOPICS: ConversationScope<ListTopicsDto> = {
  action: 'read',
  readers: 'shared',
  limit: ({ stream_id }, caller) => {
    requirePlace(caller, { kind: 'channel', channelId: stream_id as ChannelId, topic: null });
    return {};
  },
};

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
  const scheduler = new YieldingScheduler();
  return [
    ...channelListingRoutes(scheduler),
    ...singleChannelRoutes(),
    ...subscriptionRoutes(scheduler),
    ...subscriptionSettingRoutes(),
    ...topicRoutes(),
  ];
}

function channelListingRoutes(scheduler: YieldingScheduler): readonly Route[] {
  const presentChannels = ({ channels }: ListChannelsOutput, { include_default }: ListChannelsDto) =>
    presentLongList(
      scheduler,
      'streams',
      include_default ? new PresentedList(channels, presentListedChannel) : sharedChannels(channels),
    );
  return [
    route('GET', '/streams', {
      summary: 'List channels',
      section: 'channels §4.1',
      isStarred: true,
      withoutPage: 'state',
      auth: 'user',
      scope: SHARED_ONLY,
      isExpensive: true,
      dto: ListChannelsDto,
      useCase: ListChannels,
      toInput: toListedChannels,
      response: CHANNEL_LIST,
      present: (output, { dto }) => presentChannels(output, dto),
    }),
    route('POST', '/channels/create', {
      summary: 'Create a channel',
      section: 'channels §4.4',
      isStarred: true,
      auth: 'user',
      scope: 'account',
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
      response: wire.fields({ id: wire.integer() }),
      present: (id) => ({ id }),
    }),
  ];
}

function singleChannelRoutes(): readonly Route[] {
  return [
    route('GET', '/streams/:stream_id', {
      summary: 'Get a channel',
      section: 'channels §4.2',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      dto: OneChannelDto,
      useCase: GetChannel,
      toInput: toChannelId,
      response: ONE_CHANNEL,
      present: (channel) => ({ stream: presentChannel(channel) }),
    }),
    route('GET', '/streams/:stream_id/members', {
      summary: 'List the subscribers of a channel',
      section: 'channels §4.10',
      auth: 'user',
      scope: 'account',
      dto: OneChannelDto,
      useCase: ListSubscribers,
      toInput: toChannelId,
      response: wire.fields({ subscribers: wire.listOf(wire.integer()) }),
      present: (subscribers) => ({ subscribers }),
    }),
    route('GET', '/users/:user_id/subscriptions/:stream_id', {
      summary: 'Check whether a user is subscribed to a channel',
      section: 'channels §4.10',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      dto: GetSubscriptionStatusDto,
      useCase: GetSubscriptionStatus,
      toInput: ({ user_id, stream_id }) => ({ userId: user_id as UserId, channelId: stream_id as ChannelId }),
      response: wire.fields({ is_subscribed: wire.boolean() }),
      present: (is_subscribed) => ({ is_subscribed }),
    }),
    route('GET', '/users/:user_id/channels', {
      summary: 'List the channels of a user',
      section: 'channels §4.10',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      dto: ListUserChannelsDto,
      useCase: ListUserChannels,
      toInput: ({ user_id }) => ({ userId: user_id as UserId }),
      response: wire.fields({ subscribed_channel_ids: wire.listOf(wire.integer()) }),
      present: (subscribed_channel_ids) => ({ subscribed_channel_ids }),
    }),
    route('GET', '/streams/:stream_id/email_address', {
      summary: 'Get the email address of a channel',
      section: 'channels §4.16',
      lacks: 'mail to it is not taken: a gateway of the operator has to send it as messages',
      auth: 'user',
      scope: 'account',
      dto: GetChannelAddressDto,
      useCase: GetChannelAddress,
      toInput: ({ stream_id, sender_id = null }) => ({
        channelId: stream_id as ChannelId,
        senderId: sender_id as UserId | null,
      }),
      response: wire.fields({ email: wire.text() }),
      present: (address) => ({ email: address ?? '' }),
    }),
    route('PATCH', '/streams/:stream_id', {
      summary: 'Change a channel',
      section: 'channels §4.11',
      auth: 'user',
      scope: 'account',
      dto: ChangeChannelDto,
      useCase: ChangeChannel,
      toInput: toChannelChange,
    }),
    route('DELETE', '/streams/:stream_id', {
      summary: 'Archive a channel',
      section: 'channels §4.12',
      auth: 'user',
      scope: 'account',
      dto: OneChannelDto,
      useCase: ArchiveChannel,
      toInput: toChannelId,
    }),
  ];
}

function subscriptionRoutes(scheduler: YieldingScheduler): readonly Route[] {
  return [
    route('GET', '/users/me/subscriptions', {
      summary: 'List your subscriptions',
      section: 'channels §4.8',
      withoutPage: 'state',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: ListSubscriptionsDto,
      useCase: ListSubscriptions,
      toInput: (dto) => ({ includeSubscribers: dto.include_subscribers !== 'false' }),
      response: SUBSCRIPTIONS,
      present: (subscriptions) =>
        presentLongList(scheduler, 'subscriptions', new PresentedList(subscriptions, presentOwnSubscription)),
    }),
    route('POST', '/users/me/subscriptions', {
      summary: 'Subscribe users to channels, creating missing ones',
      section: 'channels §4.5',
      auth: 'user',
      scope: 'account',
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
      response: SUBSCRIBED,
      present: (output, { dto }) => presentSubscribeUsers(output, dto),
    }),
    route('DELETE', '/users/me/subscriptions', {
      summary: 'Unsubscribe users from channels',
      section: 'channels §4.6',
      auth: 'user',
      scope: 'account',
      dto: UnsubscribeUsersDto,
      useCase: UnsubscribeUsers,
      toInput: (dto) => ({
        channelNames: dto.subscriptions,
        principals: toPrincipals(dto.principals),
      }),
      response: UNSUBSCRIBED,
      present: presentUnsubscribeUsers,
    }),
    route('PATCH', '/users/me/subscriptions', {
      summary: 'Subscribe to and unsubscribe from channels',
      section: 'channels §4.7',
      withoutPage: 'others',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: ChangeSubscriptionsDto,
      useCase: ChangeSubscriptions,
      toInput: (dto) => ({ add: toNewSubscriptions(dto.add), remove: dto.delete }),
      response: CHANGED_SUBSCRIPTIONS,
      present: presentChangeSubscriptions,
    }),
  ];
}

function subscriptionSettingRoutes(): readonly Route[] {
  return [
    route('POST', '/users/me/subscriptions/properties', {
      summary: 'Change personal channel settings',
      section: 'channels §4.9',
      auth: 'user',
      scope: 'account',
      dto: ChangeSubscriptionPropertiesDto,
      useCase: ChangeSubscriptionProperties,
      toInput: (dto) => ({ changes: toPropertyChanges(dto.subscription_data) }),
    }),
    route('PATCH', '/users/me/subscriptions/muted_topics', {
      summary: 'Mute or unmute a topic',
      section: 'channels §5.5',
      withoutPage: 'others',
      auth: 'user',
      scope: 'account',
      dto: MuteTopicDto,
      useCase: MuteTopic,
      toInput: toMutedTopic,
    }),
    route('PATCH', '/users/me/subscriptions/:stream_id', {
      summary: 'Change a personal setting of a channel',
      section: 'channels §4.9',
      withoutPage: 'others',
      auth: 'user',
      scope: 'account',
      dto: ChangeSubscriptionPropertyDto,
      useCase: ChangeSubscriptionProperties,
      toInput: (dto) => ({ changes: toPropertyChanges([dto]) }),
    }),
    route('POST', '/user_topics', {
      summary: 'Follow, mute or unmute a topic',
      section: 'channels §5.4',
      auth: 'user',
      scope: 'account',
      dto: SetTopicPolicyDto,
      useCase: SetTopicPolicy,
      toInput: toTopicPolicy,
    }),
  ];
}

function topicRoutes(): readonly Route[] {
  return [
    route('GET', '/get_stream_id', {
      summary: 'Get the id of a channel by its name',
      section: 'channels §4.3',
      withoutPage: 'bots',
      auth: 'user',
      scope: 'account',
      dto: FindChannelIdDto,
      useCase: FindChannelId,
      toInput: ({ stream }) => ({ name: stream }),
      response: wire.fields({ stream_id: wire.integer() }),
      present: (id) => ({ stream_id: id }),
    }),
    route('GET', '/users/me/:stream_id/topics', {
      summary: 'List the topics of a channel',
      section: 'channels §5.3',
      auth: 'user',
      scope: LISTING_TOPICS,
      dto: ListTopicsDto,
      useCase: ListTopics,
      toInput: toChannelId,
      response: TOPICS,
      present: (topics, { dto }) => presentTopics(topics, dto.allow_empty_topic_name),
    }),
    route('GET', '/json/users/me/:stream_id/topics', {
      summary: 'List the topics of a web-public channel without an account',
      section: 'protocol §9',
      auth: 'anyone',
      atRoot: true,
      dto: ListTopicsDto,
      useCase: SpectateTopics,
      toInput: toChannelId,
      response: TOPICS,
      present: (topics, { dto }) => presentTopics(topics, dto.allow_empty_topic_name),
    }),
  ];
}

export const CHANNELS = {
  tag: 'Channels',
  routes: () => [...channelRoutes(), ...channelListRoutes],
  events: CHANNEL_EVENTS,
  errors: CHANNEL_WIRE_ERRORS,
  registerSections: () => [
    mutedTopicsSection,
    userTopicsSection,
    subscriptionsSection,
    channelsSection,
    defaultChannelsSection,
    defaultChannelGroupsSection,
    channelFoldersSection,
  ],
} satisfies HttpFeature;
