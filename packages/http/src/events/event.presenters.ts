import {
  canSeeEmail,
  type DomainEvent,
  type EphemeralEvent,
  type EventCatalogue,
  type EventNeeds,
  type EventQueue,
  type MessageLocation,
  type Receiver,
  receivedFlags,
  seesEmailOf,
  type User,
  type UserSummary,
} from '@parley/domain';
import {
  presentChannel,
  presentOwnSettings,
  presentTopic,
  VISIBILITY_POLICIES,
} from '../channels/channel.presenters.js';
import { presentGroup } from '../groups/group.presenters.js';
import { differsByViewer, flagsText, messageText, shownAddress } from '../messages/message.presenters.js';
import type { PublicRealm } from '../realms/public-realm.js';
import {
  presentAuthenticationChange,
  presentRealmName,
  presentRealmPermission,
  presentRealmSetting,
  presentUserDefault,
} from '../realms/realm-settings.events.js';
import { presentUnknownUser, presentUser, ROLE_NUMBERS, UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import {
  presentEmailVisibilityChange,
  presentNameChange,
  presentSettingChange,
  presentTimeZoneChange,
} from '../users/user-settings.events.js';
import { can, type QueuePresentation } from './queue-presentation.js';
import type { SharedText } from './shared-texts.js';

/** Everything an event's form depends on beside the event. */
export interface EventContext {
  readonly queue: EventQueue;
  readonly presentation: QueuePresentation;
  /** The client can show topics without a name. */
  readonly showsEmptyTopics: boolean;
  readonly publicRealm: PublicRealm;
  readonly receiver: Receiver;
  /** Seen for being public, not for being received. */
  readonly isNotSubscriber: boolean;
  /** A text that is the same for all clients with this key, and made for the first of them. */
  shared(key: string, make: () => string): SharedText;
}

/**
 * A wire event as JSON text without its `id` and closing brace: the same for many clients, or in pieces of which the long
 * ones are. For each client no more is put together than what differs from the others.
 */
export type WireEvent = SharedText | readonly (SharedText | string)[];

/** What an event becomes for one client: one wire event, mostly; none, or several, for clients that know less. */
export type Presented = SharedText | readonly WireEvent[];

type AnyEvent = DomainEvent | EphemeralEvent;
type EventOf<T extends AnyEvent['type']> = Extract<AnyEvent, { type: T }>;

export interface EventPresenter<E> {
  /** The API's names of what the event becomes, by which clients choose (events §6.7). Empty: nobody is told. */
  readonly wireTypes: readonly string[];
  /** What is looked up about each receiver beforehand; null: nothing. */
  readonly needs?: (event: E) => EventNeeds | null;
  /** Never waits, never looks anything up. */
  readonly present: (event: E, context: EventContext) => Presented;
}

const PRESENTERS: { readonly [T in AnyEvent['type']]: EventPresenter<EventOf<T>> } = {
  blank: toNobody(),
  'user.credentials_changed': toNobody(),
  'message.sent': {
    wireTypes: ['message'],
    // In a direct conversation everybody knows everybody.
    needs: ({ view }) =>
      view.conversation.kind === 'direct' || view.sender.isSystemBot ? null : { userIds: [view.sender.id] },
    present: presentMessageSent,
  },
  'message.flag_changed': { wireTypes: ['update_message_flags'], present: presentFlagChange },
  'channel.created': toAll('stream', ({ channels }) => ({ op: 'create', streams: channels.map(presentChannel) })),
  'channel.hidden': toAll('stream', ({ channelIds }) => ({
    op: 'delete',
    streams: channelIds.map((stream_id) => ({ stream_id })),
    stream_ids: channelIds,
  })),
  'channel.property_changed': toAll('stream', ({ channelId, name, property, value }) => ({
    op: 'update',
    stream_id: channelId,
    name,
    property: property === 'firstMessageId' ? 'first_message_id' : 'is_recently_active',
    value,
  })),
  'subscription.added': { wireTypes: ['subscription'], present: presentSubscriptionsAdded },
  'subscription.removed': {
    wireTypes: ['subscription'],
    present: ({ channels }, { receiver }) => {
      const left = channels.filter(({ userIds }) => userIds.includes(receiver.userId));
      const subscriptions = left.map(({ id, name }) => ({ stream_id: id, name }));
      return [[opened({ type: 'subscription', op: 'remove', subscriptions })]];
    },
  },
  'channel.subscribers_changed': toAll('subscription', ({ op, channelIds, userIds }) => ({
    op: `peer_${op}`,
    stream_ids: channelIds,
    user_ids: userIds,
  })),
  'default_channels.changed': toAll('default_streams', ({ channelIds }) => ({ default_streams: channelIds })),
  'topic.policy_changed': { wireTypes: ['muted_topics', 'user_topic'], present: presentTopicPolicy },
  'user.created': {
    wireTypes: ['realm_user'],
    needs: ({ user }) => (user.bot ? null : { userIds: [user.id] }),
    present: presentUserCreated,
  },
  'user.access_changed': {
    wireTypes: ['realm_user'],
    needs: ({ userIds, before }) => ({ access: { userIds, before } }),
    present: (_event, context) => [
      ...context.receiver.gained.map((user) => presentUserAdded(user, context)),
      ...context.receiver.lost.map((user_id) => [
        opened({ type: 'realm_user', op: 'remove', person: { user_id, full_name: UNKNOWN_USER_NAME } }),
      ]),
    ],
  },
  'user.setting_changed': toAll('user_settings', presentSettingChange),
  'user.name_changed': toAll('realm_user', presentNameChange),
  'user.time_zone_changed': {
    wireTypes: ['realm_user'],
    present: (event, context) =>
      context.shared('', () => opened({ type: 'realm_user', ...presentTimeZoneChange(event, context.publicRealm) })),
  },
  'user.email_visibility_changed': {
    wireTypes: ['realm_user'],
    present: (event, context) => {
      const { userId: id, role } = context.receiver;
      return presentEmailVisibilityChange(event, { id, role }, context.publicRealm).map((change) => {
        const text = opened({ type: 'realm_user', ...change });
        return [context.shared(text, () => text)];
      });
    },
  },
  'realm.name_changed': toAll('realm', presentRealmName),
  'realm.setting_changed': toAll('realm', presentRealmSetting),
  'realm.authentication_changed': toAll('realm', presentAuthenticationChange),
  'realm.permission_changed': toAll('realm', presentRealmPermission),
  'realm.user_default_changed': toAll('realm_user_settings_defaults', presentUserDefault),
  'user.role_changed': toAll('realm_user', ({ userId, role }) => ({
    op: 'update',
    person: { user_id: userId, role: ROLE_NUMBERS[role] },
  })),
  'user.activation_changed': toAll('realm_user', ({ userId, isActive }) => ({
    op: 'update',
    person: { user_id: userId, is_active: isActive },
  })),
  'realm.deactivated': {
    wireTypes: ['realm'],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
  'group.created': {
    wireTypes: ['user_group'],
    present: ({ view }, context) =>
      view ? [[context.shared('', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]] : [],
  },
  'group.members_changed': toAll('user_group', ({ op, groupId, userIds }) => ({
    op: `${op}_members`,
    group_id: groupId,
    user_ids: userIds,
  })),
  'group.subgroups_changed': toAll('user_group', ({ op, groupId, subgroupIds }) => ({
    op: `${op}_subgroups`,
    group_id: groupId,
    direct_subgroup_ids: subgroupIds,
  })),
  'group.activation_changed': { wireTypes: ['user_group'], present: presentGroupActivation },
  'typing.changed': {
    wireTypes: ['typing'],
    needs: ({ sender, to }) => (to.kind === 'channel' ? { userIds: [sender.id] } : null),
    present: presentTyping,
  },
};

const presenterOf = (type: AnyEvent['type']): EventPresenter<AnyEvent> =>
  PRESENTERS[type] as unknown as EventPresenter<AnyEvent>;

/** What delivery has to know of events. */
export const EVENT_CATALOGUE: EventCatalogue = {
  wireTypes: (type) => presenterOf(type).wireTypes,
  needsOf: (event) => presenterOf(event.type).needs?.(event) ?? null,
};

export const presentEvent = (event: AnyEvent, context: EventContext): Presented =>
  presenterOf(event.type).present(event, context);

function toNobody(): EventPresenter<AnyEvent> {
  return { wireTypes: [], present: () => [] };
}

/** An event that has one form for everybody. */
function toAll<E extends AnyEvent>(type: string, fields: (event: E) => Record<string, unknown>): EventPresenter<E> {
  return {
    wireTypes: [type],
    present: (event, context) => context.shared('', () => opened({ type, ...fields(event) })),
  };
}

/** The text of an object without its closing brace. */
const opened = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields).slice(0, -1);

/** The message once for all clients of one kind and all receivers with the same flags; the sender's own mark apart. */
function presentMessageSent(event: EventOf<'message.sent'>, context: EventContext): Presented {
  const { presentation, showsEmptyTopics, receiver } = context;
  const { applyMarkdown, clientGravatar } = presentation;
  const { sender } = event.view;
  const hidesSender = receiver.inaccessible.has(sender.id);
  // Most senders look the same to everybody.
  const seesSenderEmail = !differsByViewer(sender) || seesEmailOf({ id: receiver.userId, role: receiver.role }, sender);
  const flags = context.isNotSubscriber ? '[]' : flagsText(receivedFlags(event, receiver.userId));
  const key = keyOf(applyMarkdown, clientGravatar, showsEmptyTopics, hidesSender, seesSenderEmail);
  const message = context.shared(flags === '[]' ? key : `${key}${flags}`, () => {
    const form = {
      asHtml: applyMarkdown,
      clientGravatar,
      allowEmptyTopicName: showsEmptyTopics,
      hidesSender,
      seesSenderEmail,
    };
    return `{"type":"message","message":${messageText(event.view, context.publicRealm, form)},"flags":${flags}`;
  });
  if (event.echo?.queueId !== context.queue.id) return message;
  return [[message, `,"local_message_id":${JSON.stringify(event.echo.localId)}`]];
}

/** As a short text: the forms that the same event has differ by it. */
function keyOf(...flags: readonly boolean[]): string {
  let bits = 1;
  for (const flag of flags) bits = bits * 2 + (flag ? 1 : 0);
  return KEYS[bits]!;
}

/** Made once, since every event of every client asks for one. */
const KEYS = Array.from({ length: 64 }, (_, bits) => String(bits));

/** Events §7.1; the details are what clients need to count what became unread again. */
function presentFlagChange(event: EventOf<'message.flag_changed'>, context: EventContext): Presented {
  const { op, flag, messageIds, all, details } = event;
  const { showsEmptyTopics: allowsEmpty } = context;
  const text = () =>
    opened({
      type: 'update_message_flags',
      op,
      operation: op,
      flag,
      messages: messageIds,
      all,
      ...(flag === 'read' &&
        op === 'remove' && {
          message_details: Object.fromEntries(
            details.map(([id, location]) => [id, presentLocation(location, allowsEmpty)]),
          ),
        }),
    });
  return context.shared(keyOf(allowsEmpty), text);
}

function presentLocation(location: MessageLocation, allowEmptyTopicName: boolean) {
  const mentioned = location.isMentioned ? { mentioned: true } : {};
  return location.kind === 'channel'
    ? {
        type: 'stream',
        stream_id: location.channelId,
        topic: presentTopic(location.topic, allowEmptyTopicName),
        unmuted_stream_msg: location.isUnmuted,
        ...mentioned,
      }
    : { type: 'private', user_ids: location.userIds, ...mentioned };
}

/** Each channel with everybody who follows it once for all newcomers, and beside it what is a newcomer's own. */
function presentSubscriptionsAdded(event: EventOf<'subscription.added'>, context: EventContext): Presented {
  const { receiver } = context;
  const pieces: (SharedText | string)[] = [];
  const channels = new Map(event.channels.map((followed) => [followed.channel.id, followed]));
  for (const row of event.subscriptions) {
    const followed = row.userId === receiver.userId ? channels.get(row.channelId) : undefined;
    if (!followed) continue;
    const { channel, subscriberIds } = followed;
    pieces.push(
      pieces.length === 0 ? '{"type":"subscription","op":"add","subscriptions":[' : ',',
      context.shared(`channel ${channel.id}`, () => opened({ ...presentChannel(channel), subscribers: subscriberIds })),
      `,${JSON.stringify(presentOwnSettings(row)).slice(1)}`,
    );
  }
  return pieces.length === 0 ? [] : [[...pieces, ']']];
}

/** In the older form first, which those do not get who name the newer one (events §6.7). */
function presentTopicPolicy(event: EventOf<'topic.policy_changed'>, context: EventContext): Presented {
  const { types } = context.queue.filter;
  const { showsEmptyTopics: allowsEmpty } = context;
  const older = [
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
  if (types === null) return [older, newer];
  return types.includes('user_topic') ? [newer] : [older];
}

/** Whoever may not know them gets somebody unknown, or nothing (events §8). */
function presentUserCreated({ user }: EventOf<'user.created'>, context: EventContext): Presented {
  const { receiver, presentation, publicRealm } = context;
  if (!receiver.inaccessible.has(user.id)) return [presentUserAdded(user, context)];
  if (can(presentation, 'user_list_incomplete')) return [];
  const person = () => presentUnknownUser(user.id, publicRealm, { withActivity: true });
  return [[context.shared('unknown', () => opened({ type: 'realm_user', op: 'add', person: person() }))]];
}

function presentUserAdded(user: User, context: EventContext): WireEvent {
  const { receiver, publicRealm } = context;
  const seesEmail = canSeeEmail({ id: receiver.userId, role: receiver.role }, user);
  const form = { seesEmail, clientGravatar: false, withProfile: true, withActivity: true };
  return [
    context.shared(`${user.id} ${keyOf(seesEmail)}`, () =>
      opened({ type: 'realm_user', op: 'add', person: presentUser(user, publicRealm, form) }),
    ),
  ];
}

/** Events §2, `include_deactivated_groups`. */
function presentGroupActivation({ view }: EventOf<'group.activation_changed'>, context: EventContext): Presented {
  if (can(context.presentation, 'include_deactivated_groups')) {
    const data = { deactivated: view.isDeactivated };
    return [[context.shared('update', () => opened({ type: 'user_group', op: 'update', group_id: view.id, data }))]];
  }
  return view.isDeactivated
    ? [[context.shared('remove', () => opened({ type: 'user_group', op: 'remove', group_id: view.id }))]]
    : [[context.shared('add', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]];
}

/** Events §7.4; in channels only for clients that can show it. */
function presentTyping(event: EventOf<'typing.changed'>, context: EventContext): Presented {
  const { op, sender, to } = event;
  const { presentation, publicRealm, receiver } = context;
  const present = (person: UserSummary, isHidden = false) => ({
    user_id: person.id,
    email: shownAddress(person, publicRealm, isHidden),
  });
  if (to.kind === 'direct') {
    const recipients = () => to.people.map((person) => present(person));
    const fields = () => ({ message_type: 'direct', sender: present(sender), recipients: recipients() });
    return [[context.shared('', () => opened({ type: 'typing', op, ...fields() }))]];
  }
  if (!can(presentation, 'stream_typing_notifications')) return [];
  const isHidden = receiver.inaccessible.has(sender.id);
  const { showsEmptyTopics: allowsEmpty } = context;
  const fields = () => ({
    message_type: 'stream',
    sender: present(sender, isHidden),
    stream_id: to.channelId,
    topic: presentTopic(to.topic, allowsEmpty),
  });
  return [[context.shared(keyOf(allowsEmpty, isHidden), () => opened({ type: 'typing', op, ...fields() }))]];
}
