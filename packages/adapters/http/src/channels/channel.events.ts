import {
  CHANNEL_PERMISSIONS,
  type ChannelEventTypes,
  type ChannelFolderChange,
  type ChannelFolderEventTypes,
  type ChannelPermission,
  type ChannelPropertyChange,
  type ChannelView,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
  type SubscriptionProperty,
} from '@parley/domain/channels';
import type { EventOf } from '@parley/domain/kernel';
import {
  can,
  type EventContext,
  type EventForm,
  form,
  opened,
  type Presented,
  type Presenters,
  propertyForms,
  type SharedText,
  toAll,
} from '../delivery/event-presenter.js';
import { permissionTitle, presentGroupSetting } from '../groups/group-settings.js';
import { permissionFields } from '../groups/groups.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import {
  CHANNEL,
  channel,
  channelFolder,
  defaultChannelGroup,
  folderChange,
  mutedTopic,
  OWN_SETTINGS,
  presentChannel,
  presentDefaultChannelGroup,
  presentFolder,
  presentOwnSettings,
  presentPostPolicy,
  presentRetention,
  presentTopic,
  subscription,
  USER_TOPIC,
  VISIBILITY_POLICIES,
  WIRE_SUBSCRIPTION_PROPERTIES,
  WIRE_TOPICS_POLICIES,
} from './channel.presenters.js';

const ids = wire.listOf(wire.integer());

/** Channels §6.1. */
export const CREATED = form('stream', { op: wire.oneOf('create'), streams: wire.listOf(channel) });

export const HIDDEN = form('stream', {
  op: wire.oneOf('delete'),
  streams: wire.listOf(wire.fields({ stream_id: wire.integer() })),
  stream_ids: ids,
});

const update = (shape: wire.Shape) =>
  form('stream', { op: wire.oneOf('update'), stream_id: wire.integer(), name: wire.text(), ...shape });

const updates = (values: wire.Schemas) => propertyForms(values, update);

export const ARCHIVED = updates({ is_archived: CHANNEL.is_archived });

export const PROPERTY_CHANGED: readonly [EventForm, ...EventForm[]] = [
  ...updates({
    name: CHANNEL.name,
    message_retention_days: CHANNEL.message_retention_days,
    topics_policy: CHANNEL.topics_policy,
    folder_id: CHANNEL.folder_id,
    is_recently_active: CHANNEL.is_recently_active,
    first_message_id: CHANNEL.first_message_id,
  }),
  update({
    property: wire.oneOf('description'),
    value: CHANNEL.description,
    rendered_description: CHANNEL.rendered_description,
  }),
  update({
    property: wire.oneOf('invite_only'),
    value: CHANNEL.invite_only,
    history_public_to_subscribers: CHANNEL.history_public_to_subscribers,
    is_web_public: CHANNEL.is_web_public,
  }),
];

export const PERMISSION_CHANGED = updates({
  ...permissionFields((Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).map(permissionTitle)),
  stream_post_policy: CHANNEL.stream_post_policy,
  is_announcement_only: CHANNEL.is_announcement_only,
});

/** Channels §6.2. */
export const SUBSCRIBED = form('subscription', { op: wire.oneOf('add'), subscriptions: wire.listOf(subscription) });

export const UNSUBSCRIBED = form('subscription', {
  op: wire.oneOf('remove'),
  subscriptions: wire.listOf(wire.fields({ stream_id: wire.integer(), name: wire.text() })),
});

export const SUBSCRIPTION_CHANGED = propertyForms(OWN_SETTINGS, (shape) =>
  form('subscription', { op: wire.oneOf('update'), stream_id: wire.integer(), ...shape }),
);

export const PEERS_ADDED = form('subscription', { op: wire.oneOf('peer_add'), stream_ids: ids, user_ids: ids });
export const PEERS_REMOVED = form('subscription', { op: wire.oneOf('peer_remove'), stream_ids: ids, user_ids: ids });

export const CHANNEL_EVENTS = {
  'channel.created': { forms: [CREATED], present: presentChannelsCreated },
  'channel.shown': {
    forms: [CREATED],
    needs: ({ channelIds }) => ({ viewsOf: channelIds }),
    present: presentChannelsShown,
  },
  'channel.hidden': toAll(HIDDEN, ({ channelIds }) => presentHidden(channelIds)),
  'channel.property_changed': toAll(PROPERTY_CHANGED, ({ channelId, name, ...change }) =>
    channelUpdate({ channelId, name }, presentProperty(change)),
  ),
  'channel.permission_changed': { forms: PERMISSION_CHANGED, present: presentPermissionChange },
  'channel.archived_changed': { forms: [...ARCHIVED, CREATED, HIDDEN], present: presentArchiving },
  'subscription.added': {
    forms: [SUBSCRIBED],
    needs: ({ channels }) => {
      const unlisted = channels.filter(({ subscriberIds }) => subscriberIds === null).map(({ channel }) => channel.id);
      return unlisted.length === 0 ? null : { subscribersOf: unlisted };
    },
    present: presentSubscriptionsAdded,
  },
  'subscription.changed': { forms: SUBSCRIPTION_CHANGED, present: presentSubscriptionChange },
  'subscription.removed': {
    forms: [UNSUBSCRIBED],
    present: ({ channels }, { receiver }) => {
      const left = channels.filter(({ userIds }) => userIds.includes(receiver.userId));
      const subscriptions = left.map(({ id, name }) => ({ stream_id: id, name }));
      return [[opened({ type: 'subscription', op: 'remove', subscriptions })]];
    },
  },
  'channel.subscribers_changed': {
    forms: [PEERS_ADDED, PEERS_REMOVED],
    present: ({ op, channelIds, userIds, isReturning }, context) =>
      isReturning && knowsArchived(context)
        ? []
        : context.shared('', () =>
            opened({ type: 'subscription', op: `peer_${op}`, stream_ids: channelIds, user_ids: userIds }),
          ),
  },
  'channel.subscribers_shown': {
    forms: [PEERS_ADDED],
    needs: ({ channelIds }) => ({ subscribersOf: channelIds }),
    // Presents one wire event per channel regardless of subscription, so event ids stay the same on redelivery.
    present: ({ channelIds }, { receiver: { subscribers } }) =>
      channelIds.map((id) => [
        opened({ type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: subscribers.get(id) ?? [] }),
      ]),
  },
  'default_channels.changed': toAll(
    form('default_streams', { default_streams: wire.listOf(wire.integer()) }),
    ({ channelIds }) => ({ default_streams: channelIds }),
  ),
  'default_channel_groups.changed': toAll(
    form('default_stream_groups', { default_stream_groups: wire.listOf(defaultChannelGroup) }),
    ({ groups }) => ({
      default_stream_groups: groups.map(presentDefaultChannelGroup),
    }),
  ),
  'channel_folder.created': toAll(
    form('channel_folder', { op: wire.oneOf('add'), channel_folder: channelFolder }),
    ({ folder }) => ({
      op: 'add',
      channel_folder: presentFolder(folder),
    }),
  ),
  'channel_folder.changed': toAll(
    form('channel_folder', { op: wire.oneOf('update'), channel_folder_id: wire.integer(), data: folderChange }),
    ({ folderId, change }) => ({
      op: 'update',
      channel_folder_id: folderId,
      data: presentFolderChange(change),
    }),
  ),
  'channel_folder.reordered': toAll(
    form('channel_folder', { op: wire.oneOf('reorder'), order: wire.listOf(wire.integer()) }),
    ({ folderIds }) => ({ op: 'reorder', order: folderIds }),
  ),
  'topic.policy_changed': {
    forms: [form('muted_topics', { muted_topics: wire.listOf(mutedTopic) }), form('user_topic', USER_TOPIC)],
    present: presentTopicPolicy,
  },
} satisfies Presenters<keyof (ChannelEventTypes & ChannelFolderEventTypes)>;

function presentFolderChange(change: ChannelFolderChange): WireFields {
  if ('name' in change) return { name: change.name };
  if ('isArchived' in change) return { is_archived: change.isArchived };
  return { description: change.description, rendered_description: change.renderedDescription };
}

type PropertyUpdate = { readonly property: string; readonly value: unknown } & Readonly<Record<string, unknown>>;

const channelUpdate = (
  { channelId, name }: { readonly channelId: number; readonly name: string },
  change: PropertyUpdate,
): Readonly<Record<string, unknown>> => ({ op: 'update', stream_id: channelId, name, ...change });

/** Presents a property according to the `update` table (channels §6.1). */
function presentProperty(change: ChannelPropertyChange): PropertyUpdate {
  switch (change.property) {
    case 'name':
      return { property: 'name', value: change.value };
    case 'description':
      return { property: 'description', value: change.value, rendered_description: change.rendered };
    case 'privacy': {
      const channel = { privacy: change.value };
      return {
        property: 'invite_only',
        value: isPrivate(channel),
        history_public_to_subscribers: hasSharedHistory(channel),
        is_web_public: isWebPublic(channel),
      };
    }
    case 'messageRetentionDays':
      return { property: 'message_retention_days', value: presentRetention(change.value) };
    case 'topicsPolicy':
      return { property: 'topics_policy', value: WIRE_TOPICS_POLICIES[change.value] };
    default:
      return { property: PROPERTY_NAMES[change.property], value: change.value };
  }
}

const PROPERTY_NAMES = {
  folderId: 'folder_id',
  isRecentlyActive: 'is_recently_active',
  firstMessageId: 'first_message_id',
} as const;

/** Adds the numeric post policy for older clients if it changes (channels §6.1). */
function presentPermissionChange(event: EventOf<'channel.permission_changed'>, context: EventContext): Presented {
  const { permission, value, senders } = event;
  const updateOf = (key: string, change: PropertyUpdate) => [
    context.shared(key, () => opened({ type: 'stream', ...channelUpdate(event, change) })),
  ];
  const permissionUpdate = updateOf('permission', {
    property: permissionTitle(permission),
    value: presentGroupSetting(value),
  });
  const before = presentPostPolicy(senders?.before ?? null);
  const after = presentPostPolicy(senders?.after ?? null);
  if (before.stream_post_policy === after.stream_post_policy) return [permissionUpdate];
  return [
    permissionUpdate,
    ...(['stream_post_policy', 'is_announcement_only'] as const).map((property) =>
      updateOf(property, { property, value: after[property] }),
    ),
  ];
}

const knowsArchived = ({ presentation }: EventContext): boolean => can(presentation, 'archived_channels');

/** Presents archiving as deletion and creation to clients that do not support archived channels (channels §6.1). */
function presentArchiving({ channel }: EventOf<'channel.archived_changed'>, context: EventContext): Presented {
  const { id: channelId, name, isArchived } = channel;
  if (knowsArchived(context)) {
    const change = { property: 'is_archived', value: isArchived };
    return [
      [context.shared('update', () => opened({ type: 'stream', ...channelUpdate({ channelId, name }, change) }))],
    ];
  }
  return isArchived
    ? [[context.shared('delete', () => opened({ type: 'stream', ...presentHidden([channelId]) }))]]
    : [[context.shared('create', () => opened({ type: 'stream', ...presentCreated([channel]) }))]];
}

/** Filters out archived channels for clients that do not support them. */
const existing = <T extends { readonly isArchived: boolean }>(channels: readonly T[], context: EventContext) =>
  knowsArchived(context) ? channels : channels.filter(({ isArchived }) => !isArchived);

function presentChannelsCreated({ channels }: EventOf<'channel.created'>, context: EventContext): Presented {
  const current = existing(channels, context);
  if (current.length === 0) return [];
  const key = current.length === channels.length ? 'all' : 'in use';
  return [[context.shared(key, () => opened({ type: 'stream', ...presentCreated(current) }))]];
}

/** Shares each presented channel among all receivers. */
function presentChannelsShown({ channelIds }: EventOf<'channel.shown'>, context: EventContext): Presented {
  const { channelViews } = context.receiver;
  const current = existing(
    channelIds.flatMap((id) => channelViews.get(id) ?? []),
    context,
  );
  const pieces = current.flatMap((view, index) => [
    index === 0 ? '{"type":"stream","op":"create","streams":[' : '},',
    context.shared(`channel ${view.id}`, () => opened(presentChannel(view))),
  ]);
  return pieces.length === 0 ? [] : [[...pieces, '}]']];
}

const presentCreated = (channels: readonly ChannelView[]) => ({ op: 'create', streams: channels.map(presentChannel) });

const presentHidden = (channelIds: readonly number[]) => ({
  op: 'delete',
  streams: channelIds.map((stream_id) => ({ stream_id })),
  stream_ids: channelIds,
});

/** Shares each presented channel and its subscribers among all receivers, and adds personal settings per receiver. */
function presentSubscriptionsAdded(event: EventOf<'subscription.added'>, context: EventContext): Presented {
  const { receiver } = context;
  if (event.isReturning && knowsArchived(context)) return [];
  const pieces: (SharedText | string)[] = [];
  const channels = new Map(event.channels.map((entry) => [entry.channel.id, entry]));
  for (const row of event.subscriptions) {
    const entry = row.userId === receiver.userId ? channels.get(row.channelId) : undefined;
    if (!entry) continue;
    const { channel, subscriberIds } = entry;
    if (existing([channel], context).length === 0) continue;
    const subscribers = subscriberIds ?? receiver.subscribers.get(channel.id);
    pieces.push(
      pieces.length === 0 ? '{"type":"subscription","op":"add","subscriptions":[' : ',',
      // Receivers who can no longer see the channel get no subscriber list, so their text is cached separately.
      context.shared(`channel ${channel.id} ${subscribers !== undefined}`, () =>
        opened({ ...presentChannel(channel), subscribers: subscribers ?? [] }),
      ),
      `,${JSON.stringify(presentOwnSettings(row)).slice(1)}`,
    );
  }
  return pieces.length === 0 ? [] : [[...pieces, ']']];
}

/** Sends the older mute event first, to every client (channels §6.2). */
function presentSubscriptionChange(event: EventOf<'subscription.changed'>): Presented {
  const { channelId, property, value } = event;
  const updateOf = (name: SubscriptionProperty, to: unknown) => [
    opened({
      type: 'subscription',
      op: 'update',
      stream_id: channelId,
      property: WIRE_SUBSCRIPTION_PROPERTIES[name],
      value: to,
    }),
  ];
  const changed = updateOf(property, value);
  return property === 'isMuted' ? [updateOf('isUnmuted', !value), changed] : [changed];
}

/** Sends the older event first, except to clients that request the newer type (events §6.7). */
function presentTopicPolicy(event: EventOf<'topic.policy_changed'>, context: EventContext): Presented {
  const { eventTypes: types } = context.presentation;
  const { showsEmptyTopics: allowsEmpty } = context;
  const older = event.muted && [
    opened({
      type: 'muted_topics',
      muted_topics: event.muted.map(({ channelName, topic, changedAt }) => [
        channelName,
        presentTopic(topic, allowsEmpty),
        changedAt,
      ]),
    }),
  ];
  const newer = [
    opened({
      type: 'user_topic',
      stream_id: event.channelId,
      topic_name: presentTopic(event.topic, allowsEmpty),
      last_updated: event.changedAt,
      visibility_policy: VISIBILITY_POLICIES[event.visibility],
    }),
  ];
  if (types?.includes('user_topic')) return [newer];
  return [...(older ? [older] : []), ...(types === null ? [newer] : [])];
}
