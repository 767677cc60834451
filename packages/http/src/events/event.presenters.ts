import {
  canSeeEmail,
  type Delivery,
  type DomainEvent,
  type EventQueue,
  type EventTypeNames,
  type MessagePlace,
  type Role,
  receivedFlags,
  seesEmailOf,
} from '@parley/domain';
import {
  presentChannel,
  presentSubscription,
  presentTopic,
  VISIBILITY_POLICIES,
} from '../channels/channel.presenters.js';
import { presentGroup } from '../groups/group.presenters.js';
import { differsByViewer, flagsText, messageText } from '../messages/message.presenters.js';
import type { RealmPlace } from '../realms/realm-place.js';
import { presentUser, ROLE_NUMBERS } from '../users/user.presenters.js';
import { can, type QueuePresentation } from './queue-presentation.js';

export interface EventContext {
  readonly queue: EventQueue;
  readonly presentation: QueuePresentation;
  readonly place: RealmPlace;
  /** Of the queue's owner, as it is now. */
  readonly roleOf: () => Role;
}

/** The API's names of what each event becomes, by which clients choose (events §6.7). Empty: nobody is told. */
export const EVENT_TYPE_NAMES: EventTypeNames = {
  blank: [],
  'message.sent': ['message'],
  'message.flag_changed': ['update_message_flags'],
  'channel.created': ['stream'],
  'channel.hidden': ['stream'],
  'channel.property_changed': ['stream'],
  'subscription.added': ['subscription'],
  'subscription.removed': ['subscription'],
  'channel.subscribers_changed': ['subscription'],
  'default_channels.changed': ['default_streams'],
  'topic.policy_changed': ['muted_topics', 'user_topic'],
  'user.created': ['realm_user'],
  'user.role_changed': ['realm_user'],
  'user.activation_changed': ['realm_user'],
  'user.credentials_changed': [],
  'realm.deactivated': ['realm'],
  'group.created': ['user_group'],
  'group.members_changed': ['user_group'],
  'group.subgroups_changed': ['user_group'],
};

type EventOf<T extends DomainEvent['type']> = Extract<DomainEvent, { type: T }>;
type Present<T extends DomainEvent['type']> = (
  event: EventOf<T>,
  context: EventContext,
  delivery: Delivery,
) => readonly string[];

const nothing = () => [];

const PRESENTERS: { readonly [T in DomainEvent['type']]: Present<T> } = {
  blank: nothing,
  'user.credentials_changed': nothing,
  'message.sent': presentMessageSent,
  'message.flag_changed': presentFlagChange,
  'channel.created': (event) => [body({ type: 'stream', op: 'create', streams: event.channels.map(presentChannel) })],
  'channel.hidden': ({ channelIds }) => [
    body({
      type: 'stream',
      op: 'delete',
      streams: channelIds.map((stream_id) => ({ stream_id })),
      stream_ids: channelIds,
    }),
  ],
  'channel.property_changed': ({ channelId, name, property, value }) => [
    body({
      type: 'stream',
      op: 'update',
      stream_id: channelId,
      name,
      property: property === 'firstMessageId' ? 'first_message_id' : 'is_recently_active',
      value,
    }),
  ],
  'subscription.added': presentFollowing,
  'subscription.removed': (event, { queue }) => {
    const left = event.channels.filter(({ userIds }) => userIds.includes(queue.ownerId));
    return [
      body({
        type: 'subscription',
        op: 'remove',
        subscriptions: left.map(({ id, name }) => ({ stream_id: id, name })),
      }),
    ];
  },
  'channel.subscribers_changed': ({ op, channelIds, userIds }) => [
    body({ type: 'subscription', op: `peer_${op}`, stream_ids: channelIds, user_ids: userIds }),
  ],
  'default_channels.changed': ({ channelIds }) => [body({ type: 'default_streams', default_streams: channelIds })],
  'topic.policy_changed': presentTopicPolicy,
  'user.created': ({ user }, { queue, place, roleOf }) => {
    const seesEmail = canSeeEmail({ id: queue.ownerId, role: roleOf() }, user);
    const person = presentUser(user, place, {
      seesEmail,
      clientGravatar: false,
      withProfile: true,
      withActivity: true,
    });
    return [body({ type: 'realm_user', op: 'add', person })];
  },
  'user.role_changed': ({ userId, role }) => [
    body({ type: 'realm_user', op: 'update', person: { user_id: userId, role: ROLE_NUMBERS[role] } }),
  ],
  'user.activation_changed': ({ userId, isActive }) => [
    body({ type: 'realm_user', op: 'update', person: { user_id: userId, is_active: isActive } }),
  ],
  'realm.deactivated': (_event, { queue }) => [body({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })],
  'group.created': ({ view }) => (view ? [body({ type: 'user_group', op: 'add', group: presentGroup(view) })] : []),
  'group.members_changed': ({ op, groupId, userIds }) => [
    body({ type: 'user_group', op: `${op}_members`, group_id: groupId, user_ids: userIds }),
  ],
  'group.subgroups_changed': ({ op, groupId, subgroupIds }) => [
    body({ type: 'user_group', op: `${op}_subgroups`, group_id: groupId, direct_subgroup_ids: subgroupIds }),
  ],
};

/**
 * What a delivery becomes for one queue: the texts of its wire events, without braces and without `id`. None, one or
 * several: clients that know less see some changes otherwise.
 */
export function presentDelivery(delivery: Delivery, context: EventContext): readonly string[] {
  const { event } = delivery.stored;
  return (PRESENTERS[event.type] as Present<typeof event.type>)(event as never, context, delivery);
}

/** The text of an object without its braces. */
const body = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields).slice(1, -1);

/** The message once for all clients of one kind; only flags and the sender's own mark differ from one to the other. */
const messageTexts = new WeakMap<EventOf<'message.sent'>, Map<string, string>>();

function presentMessageSent(
  event: EventOf<'message.sent'>,
  { queue, presentation, place, roleOf }: EventContext,
  { isBystander }: Delivery,
): readonly string[] {
  let texts = messageTexts.get(event);
  if (!texts) {
    texts = new Map();
    messageTexts.set(event, texts);
  }
  const { sender } = event.view;
  // Most senders look the same to everybody.
  const seesSenderEmail = !differsByViewer(sender) || seesEmailOf({ id: queue.ownerId, role: roleOf() }, sender);
  const key = seesSenderEmail ? presentation.key : `${presentation.key}:hidden`;
  let text = texts.get(key);
  if (text === undefined) {
    const message = messageText(event.view, place, {
      asHtml: presentation.applyMarkdown,
      clientGravatar: presentation.clientGravatar,
      allowEmptyTopicName: can(presentation, 'empty_topic_name'),
      seesSenderEmail,
    });
    text = `"type":"message","message":${message}`;
    texts.set(key, text);
  }
  const flags = isBystander ? '[]' : flagsText(receivedFlags(event, queue.ownerId));
  const echo = event.echo?.queueId === queue.id ? `,"local_message_id":${JSON.stringify(event.echo.localId)}` : '';
  return [`${text},"flags":${flags}${echo}`];
}

/** Events §7.1; the details are what clients need to count what became unread again. */
function presentFlagChange(
  { op, flag, messageIds, all, details }: EventOf<'message.flag_changed'>,
  { presentation }: EventContext,
): readonly string[] {
  const places = details.map(
    ([id, place]) => [id, presentPlace(place, can(presentation, 'empty_topic_name'))] as const,
  );
  return [
    body({
      type: 'update_message_flags',
      op,
      operation: op,
      flag,
      messages: messageIds,
      all,
      ...(flag === 'read' && op === 'remove' && { message_details: Object.fromEntries(places) }),
    }),
  ];
}

function presentPlace(place: MessagePlace, allowEmptyTopicName: boolean) {
  const mentioned = place.isMentioned ? { mentioned: true } : {};
  return place.kind === 'channel'
    ? {
        type: 'stream',
        stream_id: place.channelId,
        topic: presentTopic(place.topic, allowEmptyTopicName),
        unmuted_stream_msg: place.isUnmuted,
        ...mentioned,
      }
    : { type: 'private', user_ids: place.userIds, ...mentioned };
}

function presentFollowing(event: EventOf<'subscription.added'>, { queue }: EventContext): readonly string[] {
  const rows = new Map(
    event.subscriptions.filter((row) => row.userId === queue.ownerId).map((row) => [row.channelId, row]),
  );
  const subscriptions = event.channels.flatMap(({ channel, subscriberIds }) => {
    const row = rows.get(channel.id);
    return row ? [presentSubscription(channel, row, subscriberIds)] : [];
  });
  return [body({ type: 'subscription', op: 'add', subscriptions })];
}

/** In the older form first, which those do not get who name the newer one (events §6.7). */
function presentTopicPolicy(
  event: EventOf<'topic.policy_changed'>,
  { queue, presentation }: EventContext,
): readonly string[] {
  const { types } = queue.filter;
  const allowsEmpty = can(presentation, 'empty_topic_name');
  const older = body({
    type: 'muted_topics',
    muted_topics: event.muted.map(({ channelName, topic, changedAt }) => [
      channelName,
      presentTopic(topic, allowsEmpty),
      changedAt,
    ]),
  });
  const newer = body({
    type: 'user_topic',
    stream_id: event.channelId,
    topic_name: presentTopic(event.topic, allowsEmpty),
    last_updated: event.changedAt,
    visibility_policy: VISIBILITY_POLICIES[event.visibility],
  });
  if (types === null) return [older, newer];
  return types.includes('user_topic') ? [newer] : [older];
}
