import { applyEvent, begin, ChatState, present, ruleFor } from '@parley/chat';
import type { Event, InitialState } from '@parley/client';

// biome-ignore lint/suspicious/noExplicitAny: compares responses of any shape
type Wire = any;

/** All capabilities of events §2 that have an effect. */
export const ALL_CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: true,
  stream_typing_notifications: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
  simplified_presence_events: true,
  individual_emoji_changes: true,
  external_ids: true,
} as const;

export const NO_CAPABILITIES = { notification_settings_null: false } as const;

export type Capabilities = Readonly<Record<string, boolean>>;

/** All capabilities without the one at the index, which starts again after the last. */
export const withoutOne = (index: number): Capabilities => {
  const names = Object.keys(ALL_CAPABILITIES);
  return { ...ALL_CAPABILITIES, [names[index % names.length]!]: false };
};

const CHANNEL_LISTS = ['subscriptions', 'unsubscribed', 'never_subscribed', 'streams'] as const;

/** State that a client must refetch, because no event names the message that replaces a deleted one. */
interface Unsure {
  isNewestGone: boolean;
  /** Conversations by the ids of the other participants. */
  readonly conversations: Set<string>;
  /** Channels that became inaccessible. */
  readonly hidden: Set<number>;
  /** Channels that became accessible again; personal data in them is not sent again (channels §6.3). */
  readonly shownAgain: Set<number>;
  /** Channels with a history that was protected: subscribers without the first message do not hear of its deletion. */
  readonly disclosed: Set<number>;
}

/**
 * State of a web client that registers once and then follows events (events §7, §9). `state` must always equal the
 * state of a fresh register response. For clients without capabilities, it translates the older event formats.
 */
export class SyncedState {
  /** `type/op` of received events without duplicates, in order of arrival. */
  readonly heard = new Set<string>();
  private readonly chat = new ChatState();
  private readonly unsure: Unsure = {
    isNewestGone: false,
    conversations: new Set(),
    hidden: new Set(),
    shownAgain: new Set(),
    disclosed: new Set(),
  };

  /** @param newestChannelId newest channel at the time of registration, including hidden ones */
  constructor(
    private readonly capabilities: Capabilities,
    response: Wire,
    private readonly newestChannelId: number,
  ) {
    begin(this.chat, response as InitialState);
    // The newest message may be in a channel that the guest has left, see `notice`.
    this.unsure.isNewestGone = response.is_guest === true;
  }

  /** State in the format of a register response. */
  get state(): Wire {
    return this.withoutUnsure(comparable(JSON.parse(JSON.stringify(present(this.chat)))));
  }

  /** Messages that events have brought, in the format of the wire. */
  get messages(): readonly Wire[] {
    return [...this.chat.messages.all().values()];
  }

  /** Reduces another client's register response to what this client can know. Modifies the response. */
  comparableOf(response: Wire): Wire {
    // Users who gain or lose administrator rights receive no changes of other users' bots (events §9 row 5).
    if (this.chat.fields.table.peek('realm_bots') === null) response.realm_bots = null;
    return this.withoutUnsure(comparable(response));
  }

  apply(event: Wire): void {
    if (!ruleFor(event)) throw new Error(`The client has no rule for ${JSON.stringify(event)}`);
    this.heard.add(event.op === undefined ? event.type : `${event.type}/${event.op}`);
    this.notice(event);
    const lost = event.type === 'realm_user' && this.chat.people.peek(event.person.user_id)?.user;
    if (!this.applyOld(event)) applyEvent(this.chat, this.modern(event));
    // Clients without `user_list_incomplete` keep a placeholder user (events §4.3).
    if (lost && event.op === 'remove' && this.capabilities.user_list_incomplete !== true) {
      const user = unknown(lost, this.chat.fields.peek('realm_bot_domain')!);
      this.chat.people.set(user.user_id, { user, list: 'realm_users' });
    }
  }

  /** Called when the person gets a message without an event, as by a reaction to it. */
  doubtNewest(): void {
    this.unsure.isNewestGone = true;
  }

  private withoutUnsure(state: Wire): Wire {
    const { isNewestGone, conversations, shownAgain, disclosed } = this.unsure;
    for (const channel of state.subscriptions) if (disclosed.has(channel.stream_id)) delete channel.first_message_id;
    if (shownAgain.size > 0) withoutOwnThings(state, shownAgain);
    if (isNewestGone) delete state.max_message_id;
    state.recent_private_conversations = state.recent_private_conversations.filter(
      ({ user_ids }: Wire) => !conversations.has(String(user_ids)),
    );
    return state;
  }

  /** Applies events that only clients without capabilities receive (events §2). */
  private applyOld(event: Wire): boolean {
    const name = `${event.type}/${event.op}`;
    if (name === 'realm_emoji/update') this.chat.fields.set('realm_emoji', event.realm_emoji);
    else if (name === 'user_group/remove') this.chat.groups.delete(event.group_id);
    else return event.type === 'presence' && event.presences === undefined;
    return true;
  }

  /** Translates the event formats for clients without capabilities (events §2). */
  private modern(event: Wire): Event {
    if (event.type === 'delete_message') return { ...event, message_ids: event.message_ids ?? [event.message_id] };
    if (event.type === 'subscription' && event.op === 'add' && this.capabilities.notification_settings_null !== true) {
      const settings = this.chat.fields.peek('user_settings');
      return { ...event, subscriptions: event.subscriptions.map((each: Wire) => inherited(each, settings)) };
    }
    return event as Event;
  }

  /** Records what the client cannot know after the event. */
  private notice(event: Wire): void {
    const { hidden, shownAgain, disclosed, conversations } = this.unsure;
    const name = `${event.type}/${event.op}`;
    if (name === 'stream/create') {
      for (const { stream_id: id } of event.streams) {
        if (id <= this.newestChannelId || hidden.has(id)) shownAgain.add(id);
      }
    }
    if (name === 'stream/delete') {
      for (const id of event.stream_ids) hidden.add(id);
      // No event tells former readers that a message of the channel was moved or deleted (messages §9.4).
      this.unsure.isNewestGone = true;
    }
    if (name === 'stream/update' && event.property === 'is_archived' && !event.value) shownAgain.add(event.stream_id);
    if (name === 'stream/update' && event.history_public_to_subscribers === true) disclosed.add(event.stream_id);
    if (name === 'subscription/remove' || name === 'stream/delete') {
      const left = event.stream_ids ?? event.subscriptions.map(({ stream_id }: Wire) => stream_id);
      for (const { id, stream_id } of this.messages) if (left.includes(stream_id)) this.chat.messages.delete(id);
    }
    const isMovedAway =
      event.new_stream_id !== undefined && this.chat.channels.peek(event.new_stream_id)?.membership !== 'subscribed';
    if (event.type !== 'delete_message' && !isMovedAway) return;
    const ids: readonly number[] = event.message_ids ?? [event.message_id];
    if (ids.includes(this.chat.fields.peek('max_message_id')!)) this.unsure.isNewestGone = true;
    if (event.type !== 'delete_message') return;
    for (const [key, { maxMessageId }] of this.chat.recentDirects.all()) {
      if (ids.includes(maxMessageId)) conversations.add(key);
    }
  }
}

const namesOf = (response: Wire, isMeant: (id: number) => boolean): ReadonlySet<string> =>
  new Set(
    CHANNEL_LISTS.flatMap((list) => response[list])
      .filter(({ stream_id }: Wire) => isMeant(stream_id))
      .map(({ name }: Wire) => name),
  );

/** Removes former subscriptions, topic policies and unread messages of the channels. */
function withoutOwnThings(state: Wire, channels: ReadonlySet<number>): void {
  const isOther = ({ stream_id }: Wire) => !channels.has(stream_id);
  const names = namesOf(state, (id) => channels.has(id));
  for (const list of ['unsubscribed', 'never_subscribed', 'user_topics']) state[list] = state[list].filter(isOther);
  state.muted_topics = state.muted_topics.filter(([name]: Wire) => !names.has(name));
  const { pms, streams, huddles } = state.unread_msgs;
  state.unread_msgs = { pms, streams: streams.filter(isOther), huddles };
}

/** Placeholder for an unknown user (events §4.3). */
function unknown({ user_id, avatar_url }: Wire, host: string): Wire {
  return {
    user_id,
    delivery_email: null,
    email: `user${user_id}@${host}`,
    full_name: 'Unknown user',
    date_joined: '1970-01-01T00:00:00+00:00',
    is_owner: false,
    is_admin: false,
    is_guest: false,
    is_bot: false,
    role: 400,
    timezone: '',
    avatar_url: new URL('unknown.png', avatar_url).href,
    avatar_version: 1,
    is_imported_stub: false,
    profile_data: {},
  };
}

/**
 * Subscription for a client without inheritance (events §2). The client cannot tell which values are inherited, so it
 * cannot apply changes of the defaults until it registers again.
 */
function inherited(subscription: Wire, settings: Wire): Wire {
  const general = (own: boolean | null, name: string) => own ?? settings[name];
  return {
    ...subscription,
    desktop_notifications: general(subscription.desktop_notifications, 'enable_stream_desktop_notifications'),
    audible_notifications: general(subscription.audible_notifications, 'enable_stream_audible_notifications'),
    push_notifications: general(subscription.push_notifications, 'enable_stream_push_notifications'),
    email_notifications: general(subscription.email_notifications, 'enable_stream_email_notifications'),
    wildcard_mentions_notify: general(subscription.wildcard_mentions_notify, 'wildcard_mentions_notify'),
  };
}

/**
 * Removes fields that no event updates: the queue, time, presence, subscriber and traffic counts (events §7.3), the
 * first message of channels without subscription or with protected history (messages §11), deleted profiles
 * (users §1.1), `away` (users §7), and the statuses of deactivated users. Removes channels from `streams` that another list contains, as a partial state does. Ignores the case of topics with unread messages, since the response names only that of the oldest. Sorts
 * lists without a fixed order. Modifies the response.
 */
function comparable(response: Wire): Wire {
  const { queue_id: _, last_event_id: __, server_timestamp: ___, ...all } = response;
  const { presences: ____, presence_last_update_id: _____, ...state } = all;
  for (const list of CHANNEL_LISTS) {
    for (const channel of state[list]) {
      delete channel.subscriber_count;
      delete channel.stream_weekly_traffic;
      if (list !== 'subscriptions' || !channel.history_public_to_subscribers) delete channel.first_message_id;
    }
  }
  const isInList = ({ stream_id }: Wire) =>
    CHANNEL_LISTS.some((list) => list !== 'streams' && state[list].some((row: Wire) => row.stream_id === stream_id));
  state.streams = state.streams.filter((channel: Wire) => !isInList(channel));
  for (const group of state.realm_user_groups) group.members.sort(ascending);
  state.realm_user_groups.sort((a: Wire, b: Wire) => a.id - b.id);
  for (const list of ['realm_users', 'realm_non_active_users', 'cross_realm_bots']) {
    state[list].sort((a: Wire, b: Wire) => a.user_id - b.user_id);
    for (const user of state[list]) delete user.is_deleted;
  }
  // Sorted by name in responses, as in the reference. A new name has no event for the group.
  for (const group of state.realm_default_stream_groups) group.streams.sort(ascending);
  for (const { user_id } of state.realm_non_active_users) delete state.user_status[user_id];
  for (const [id, status] of Object.entries<Wire>(state.user_status)) {
    delete status.away;
    if (Object.keys(status).length === 0) delete state.user_status[id];
  }
  for (const list of ['user_topics', 'muted_topics']) state[list].sort(byText);
  state.realm_bots?.sort((a: Wire, b: Wire) => a.user_id - b.user_id);
  state.unread_msgs.mentions.sort(ascending);
  for (const row of state.unread_msgs.streams) row.topic = row.topic.toLowerCase();
  state.unread_msgs.streams.sort((a: Wire, b: Wire) => a.stream_id - b.stream_id || compare(a.topic, b.topic));
  return state;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byText = (a: unknown, b: unknown): number => compare(JSON.stringify(a), JSON.stringify(b));
const ascending = (a: number, b: number): number => a - b;
