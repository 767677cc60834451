import { fieldsOf, type Wire } from './expectations.js';
import { exportsOfFeatures } from './features-of-clients.js';
import type { TestServer, TestUser } from './test-server.js';
import {
  ascending,
  type Happening,
  nothing,
  own,
  type Rules,
  replaces,
  type Unsure,
  union,
  without,
} from './wire-rule.js';
import { WireUnread } from './wire-unread.js';

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

const CHANNEL_LISTS = ['subscriptions', 'unsubscribed', 'never_subscribed', 'streams'] as const;

/**
 * Client that registers once and then updates its state by events only (events §7, §9). Its `state` must always equal
 * a fresh register response. An event without a rule is an error, so that new events get one.
 */
export class WireClient {
  /** `type/op` of received events without duplicates, in order of arrival. */
  readonly heard = new Set<string>();
  private lastEventId: number;
  private readonly unsure: Unsure;

  private constructor(
    private readonly server: TestServer,
    private readonly as: TestUser,
    private readonly capabilities: Capabilities,
    private readonly queueId: string,
    readonly response: Wire,
    private readonly unread: WireUnread,
    newestChannelId: number,
  ) {
    this.lastEventId = response.last_event_id;
    this.unsure = {
      isNewestGone: false,
      conversations: new Set(),
      newestChannelId,
      hidden: new Set(),
      shownAgain: new Set(),
    };
  }

  /** `initial`: the register response of an earlier client in the same situation, which saves fetching it. */
  static async open(
    server: TestServer,
    as: TestUser,
    capabilities: Capabilities,
    initial: Wire | null = null,
  ): Promise<WireClient> {
    const registered = await register(server, as, capabilities, initial ? { fetch_event_types: [] } : {});
    const { queue_id, last_event_id } = registered;
    const response = initial ? { ...initial, queue_id, last_event_id } : registered;
    const channels = await server.storage.uow.read(server.realmId, (repositories) =>
      repositories.channels.listAll(server.realmId),
    );
    const newestChannelId = Math.max(0, ...channels.map(({ id }) => id));
    const unread = new WireUnread(response.unread_msgs);
    return new WireClient(server, as, capabilities, response.queue_id, response, unread, newestChannelId);
  }

  /** Applies all pending events. */
  async catchUp(): Promise<void> {
    for (;;) {
      const params = { queue_id: this.queueId, last_event_id: this.lastEventId, dont_block: true };
      const events: Wire[] = fieldsOf(await this.server.get('/events', this.as, params)).events as Wire;
      if (events.length === 0) return;
      for (const event of events) {
        this.apply(event);
        this.lastEventId = event.id;
      }
    }
  }

  /** State in the format of a register response. */
  get state(): Wire {
    const { subscriptions, user_topics } = this.response;
    const unread_msgs = this.unread.present({ userId: this.as.id, subscriptions, user_topics });
    return this.withoutUnsure(comparable({ ...this.response, unread_msgs }));
  }

  /** State of a newly registered client. */
  async fresh(): Promise<Wire> {
    const response = await register(this.server, this.as, this.capabilities);
    // Users who gain or lose administrator rights receive no changes of other users' bots (events §9 row 5).
    if (this.response.realm_bots === null) response.realm_bots = null;
    return this.withoutUnsure(comparable(response));
  }

  private withoutUnsure(state: Wire): Wire {
    const { isNewestGone, conversations, shownAgain } = this.unsure;
    if (shownAgain.size > 0) withoutOwnThings(state, shownAgain);
    if (isNewestGone) delete state.max_message_id;
    state.recent_private_conversations = state.recent_private_conversations.filter(
      ({ user_ids }: Wire) => !conversations.has(String(user_ids)),
    );
    return state;
  }

  private apply(event: Wire): void {
    const name = event.op === undefined ? event.type : `${event.type}/${event.op}`;
    const rules = allRules();
    const rule = rules[name] ?? rules[event.type];
    if (!rule) throw new Error(`The client has no rule for ${JSON.stringify(event)}`);
    this.heard.add(name);
    rule({ ...this.parts, event });
  }

  private get parts(): Omit<Happening, 'event'> {
    return {
      response: this.response,
      unread: this.unread,
      unsure: this.unsure,
      selfId: this.as.id,
      can: (capability) => this.capabilities[capability] === true,
    };
  }
}

/** Rules of all features; each file beside the scenarios may export some as `…_RULES`. */
let gatheredRules: Rules | undefined;

function allRules(): Rules {
  gatheredRules ??= Object.assign({}, CORE_RULES, ...exportsOfFeatures('_RULES'));
  return gatheredRules!;
}

async function register(
  server: TestServer,
  as: TestUser,
  capabilities: Capabilities,
  more: object = {},
): Promise<Wire> {
  const params = { client_capabilities: capabilities, client_gravatar: false, include_subscribers: 'true', ...more };
  return fieldsOf(await server.post('/register', as, params));
}

/** Rules of messages, channels and users, which depend on each other. Rules of other features are in `client-sync`. */
const CORE_RULES: Rules = {
  heartbeat: nothing,
  muted_topics: replaces('muted_topics'),
  'user_settings/update': ({ response, event }) => {
    response.user_settings[event.property] = event.value;
    if (event.property === 'enable_drafts_synchronization' && !event.value) response.drafts = [];
  },
  message: receiveMessage,
  'update_message_flags/add': ({ response, unread, event: { flag, all, messages } }) => {
    own(response, messages);
    if (flag === 'read') unread.markRead(all ? null : messages);
    if (flag === 'starred') response.starred_messages = union(response.starred_messages, messages);
  },
  'update_message_flags/remove': ({ response, unread, event: { flag, messages, message_details: details } }) => {
    own(response, messages);
    if (flag === 'read') for (const id of messages) unread.markUnread(id, details[id]);
    if (flag === 'starred') response.starred_messages = without(response.starred_messages, messages);
  },
  update_message: updateMessages,
  delete_message: ({ response, unread, unsure, event: { message_ids, message_id } }) => {
    const ids: readonly number[] = message_ids ?? [message_id];
    lose({ response, unread, unsure }, ids);
    for (const { user_ids, max_message_id } of response.recent_private_conversations) {
      if (ids.includes(max_message_id)) unsure.conversations.add(String(user_ids));
    }
  },
  submessage: nothing,
  user_topic: ({ response, event: { type: _, id: __, ...topic } }) => {
    const isSame = (other: Wire) =>
      other.stream_id === topic.stream_id && other.topic_name.toLowerCase() === topic.topic_name.toLowerCase();
    response.user_topics = response.user_topics.filter((other: Wire) => !isSame(other));
    if (topic.visibility_policy !== 0) response.user_topics.push(topic);
  },

  'stream/create': ({ response, event, unsure }) => {
    for (const channel of event.streams) {
      const id = channel.stream_id;
      if (id <= unsure.newestChannelId || unsure.hidden.has(id)) unsure.shownAgain.add(id);
      put(response, 'streams', channel);
      if (!response.is_guest || channel.is_web_public)
        put(response, 'never_subscribed', { ...channel, subscribers: [] });
    }
  },
  'stream/delete': ({ response, unsure, event: { stream_ids: ids } }) => {
    forgetTopics(response, ids);
    for (const list of CHANNEL_LISTS) for (const id of ids) take(response, list, id);
    for (const id of ids) unsure.hidden.add(id);
  },
  'stream/update': ({
    response,
    unsure,
    event: { type: _, op: __, id: ___, name, stream_id, property, value, ...more },
  }) => {
    changeChannel(response, stream_id, (channel) => ({ ...channel, [property]: value, ...more }));
    if (property === 'name') {
      // The older list of muted topics uses channel names (channels §6.6).
      for (const muted of response.muted_topics) if (muted[0] === name) muted[0] = value;
    }
    if (property !== 'is_archived') return;
    if (value) forgetTopics(response, [stream_id]);
    else unsure.shownAgain.add(stream_id);
  },
  'subscription/add': ({ response, event, can }) => {
    for (const subscription of event.subscriptions) {
      for (const list of ['unsubscribed', 'never_subscribed'] as const) take(response, list, subscription.stream_id);
      const shown = can('notification_settings_null') ? subscription : inherited(subscription, response.user_settings);
      put(response, 'subscriptions', shown);
    }
  },
  'subscription/remove': ({ response, event, selfId }) => {
    for (const { stream_id } of event.subscriptions) {
      const left = take(response, 'subscriptions', stream_id);
      if (left) put(response, 'unsubscribed', { ...left, subscribers: without(left.subscribers, [selfId]) });
    }
  },
  'subscription/update': ({ response, event: { stream_id, property, value } }) =>
    changeChannel(response, stream_id, (channel) =>
      property in channel ? { ...channel, [property]: value } : channel,
    ),
  'subscription/peer_add': ({ response, event: { stream_ids, user_ids } }) =>
    changeSubscribers(response, stream_ids, (ids) => union(ids, user_ids)),
  'subscription/peer_remove': ({ response, event: { stream_ids, user_ids } }) =>
    changeSubscribers(response, stream_ids, (ids) => without(ids, user_ids)),

  'realm_user/add': ({ response, event: { person } }) => {
    const { is_active: _, ...user } = person;
    response.realm_users = [...withoutUser(response.realm_users, user.user_id), user];
  },
  'realm_user/remove': ({ response, event: { person }, can }) => {
    const lost = response.realm_users.find((user: Wire) => user.user_id === person.user_id);
    response.realm_users = withoutUser(response.realm_users, person.user_id);
    // Clients without `user_list_incomplete` keep a placeholder user (events §4.3).
    if (lost && !can('user_list_incomplete')) response.realm_users.push(unknown(lost, response));
  },
  'realm_user/update': changeUser,
};

/** Removes topic policies of archived and inaccessible channels, which are hidden from the user (channels §7). */
function forgetTopics(response: Wire, ids: readonly number[]): void {
  const names = namesOf(response, (id) => ids.includes(id));
  response.user_topics = response.user_topics.filter(({ stream_id }: Wire) => !ids.includes(stream_id));
  response.muted_topics = response.muted_topics.filter(([name]: Wire) => !names.has(name));
}

const namesOf = (response: Wire, isMeant: (id: number) => boolean): ReadonlySet<string> =>
  new Set(response.streams.filter(({ stream_id }: Wire) => isMeant(stream_id)).map(({ name }: Wire) => name));

/** Removes former subscriptions, topic policies and unread messages of the channels. */
function withoutOwnThings(state: Wire, channels: ReadonlySet<number>): void {
  const isOther = ({ stream_id }: Wire) => !channels.has(stream_id);
  for (const list of ['unsubscribed', 'never_subscribed', 'user_topics']) state[list] = state[list].filter(isOther);
  const names = namesOf(state, (id) => channels.has(id));
  state.muted_topics = state.muted_topics.filter(([name]: Wire) => !names.has(name));
  const { pms, streams, huddles } = state.unread_msgs;
  state.unread_msgs = { pms, streams: streams.filter(isOther), huddles };
}

/** Removes messages from the user's own. */
function lose(
  { response, unread, unsure }: Pick<Happening, 'response' | 'unread' | 'unsure'>,
  ids: readonly number[],
): void {
  unread.remove(ids);
  response.starred_messages = without(response.starred_messages, ids);
  if (ids.includes(response.max_message_id)) unsure.isNewestGone = true;
}

/**
 * Applies a move (messages §18.2): subscribers of the new channel keep messages, and gain them if history is
 * protected.
 */
function updateMessages(happening: Happening): void {
  const { response, unread, event } = happening;
  const { message_id, message_ids: ids, stream_id, new_stream_id: moved, subject = null } = event;
  if (event.content !== undefined) unread.name(message_id, event.flags);
  if (event.propagate_mode === undefined) return;
  const target = response.subscriptions.find((channel: Wire) => channel.stream_id === moved);
  if (moved !== undefined && !target) lose(happening, ids);
  else unread.move(ids, moved ?? stream_id, subject);
  if (target?.history_public_to_subscribers === false) own(response, ids);
}

function receiveMessage({ response, unread, selfId, event: { message, flags } }: Happening): void {
  own(response, [message.id]);
  if (!flags.includes('read')) unread.receive(message, flags);
  if (flags.includes('starred')) response.starred_messages = union(response.starred_messages, [message.id]);
  if (message.type === 'private') {
    const user_ids = without(message.display_recipient.map(({ id }: Wire) => id).sort(ascending), [selfId]);
    const isOther = (conversation: Wire) => String(conversation.user_ids) !== String(user_ids);
    response.recent_private_conversations = [
      { user_ids, max_message_id: message.id },
      ...response.recent_private_conversations.filter(isOther),
    ];
  } else {
    changeChannel(response, message.stream_id, (channel) => ({
      ...channel,
      first_message_id: channel.first_message_id ?? message.id,
    }));
  }
}

function changeUser({ response, selfId, event: { person } }: Happening): void {
  const { user_id, is_active, new_email, role, custom_profile_field: said, external_id, ...others } = person;
  const changed = {
    ...others,
    ...(new_email !== undefined && { email: new_email }),
    ...(role !== undefined && { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 }),
  };
  for (const list of ['realm_users', 'realm_non_active_users', 'cross_realm_bots']) {
    for (const user of response[list]) {
      if (user.user_id !== user_id) continue;
      assignKnown(user, changed);
      // Absent until it is assigned.
      if (external_id !== undefined) user.external_id = external_id;
    }
  }
  if (said) {
    for (const list of ['realm_users', 'realm_non_active_users']) {
      for (const user of response[list]) {
        if (user.user_id !== user_id) continue;
        const { id, value, ...rendered } = said;
        const { [id]: _, ...profile } = user.profile_data;
        user.profile_data = value === null ? profile : { ...profile, [id]: { value, ...rendered } };
      }
    }
  }
  if (is_active !== undefined) {
    const [from, to] = is_active
      ? ['realm_non_active_users', 'realm_users']
      : ['realm_users', 'realm_non_active_users'];
    const user = response[from].find((it: Wire) => it.user_id === user_id);
    response[from] = withoutUser(response[from], user_id);
    if (user) response[to] = [...withoutUser(response[to], user_id), user];
    if (!is_active) leaveAllGroups(response, user_id);
  }
  // Clients remove deactivated users from groups on their own (users §4.1).
  if (is_active === false) {
    for (const group of response.realm_user_groups) group.members = without(group.members, [user_id]);
  }
  if (user_id !== selfId) return;
  if (changed.is_admin !== undefined && changed.is_admin !== response.is_admin) response.realm_bots = null;
  assignKnown(response, changed);
  if (role !== undefined) response.is_moderator = role <= 300;
}

/** Removes a deactivated user from all groups, since no event lists these groups (users §4.1). */
function leaveAllGroups(response: Wire, userId: number): void {
  const leave = (thing: Wire): void => {
    for (const value of Object.values<Wire>(thing)) {
      if (value?.direct_members) value.direct_members = without(value.direct_members, [userId]);
    }
  };
  leave(response);
  for (const group of response.realm_user_groups) {
    group.members = without(group.members, [userId]);
    leave(group);
  }
  for (const list of CHANNEL_LISTS) response[list].forEach(leave);
}

/** Assigns known properties only, since an event about a user also contains fields only they can see. */
function assignKnown(known: Wire, changed: Wire): void {
  for (const [name, value] of Object.entries(changed)) if (name in known) known[name] = value;
}

/** Placeholder for an unknown user (events §4.3). */
function unknown({ user_id, avatar_url }: Wire, { realm_bot_domain: host }: Wire): Wire {
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
 * Subscription for a client without inheritance (events §2). The client does not know which values are inherited, so
 * it cannot apply changes of the defaults until it registers again.
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

type ChannelList = (typeof CHANNEL_LISTS)[number];

/** Inserts a channel by name (events §3.2). */
function put(response: Wire, list: ChannelList, channel: Wire): void {
  take(response, list, channel.stream_id);
  response[list] = [...response[list], channel].sort(byName);
}

function take(response: Wire, list: ChannelList, id: number): Wire {
  const found = response[list].find(({ stream_id }: Wire) => stream_id === id);
  response[list] = response[list].filter((channel: Wire) => channel !== found);
  return found;
}

function changeChannel(response: Wire, id: number, change: (channel: Wire) => Wire): void {
  for (const list of CHANNEL_LISTS) {
    response[list] = response[list]
      .map((channel: Wire) => (channel.stream_id === id ? change(channel) : channel))
      .sort(byName);
  }
}

function changeSubscribers(response: Wire, ids: readonly number[], change: (ids: number[]) => number[]): void {
  for (const id of ids) {
    changeChannel(response, id, (channel) =>
      'subscribers' in channel ? { ...channel, subscribers: change(channel.subscribers) } : channel,
    );
  }
}

/**
 * Removes fields that no event updates: the queue, time, presence, subscriber and traffic counts (events §7.3), the
 * first message of channels without subscription, and deleted profiles (users §1.1). Sorts lists without a fixed
 * order.
 */
function comparable(response: Wire): Wire {
  const { queue_id: _, last_event_id: __, server_timestamp: ___, ...all } = structuredClone(response);
  const { presences: ____, presence_last_update_id: _____, ...state } = all;
  for (const list of CHANNEL_LISTS) {
    for (const channel of state[list]) {
      delete channel.subscriber_count;
      delete channel.stream_weekly_traffic;
      if (list !== 'subscriptions') delete channel.first_message_id;
    }
  }
  for (const group of state.realm_user_groups) group.members.sort(ascending);
  state.realm_user_groups.sort((a: Wire, b: Wire) => a.id - b.id);
  for (const list of ['realm_users', 'realm_non_active_users', 'cross_realm_bots']) {
    state[list].sort((a: Wire, b: Wire) => a.user_id - b.user_id);
    for (const user of state[list]) delete user.is_deleted;
  }
  for (const list of ['user_topics', 'muted_topics']) state[list].sort(byText);
  state.realm_bots?.sort((a: Wire, b: Wire) => a.user_id - b.user_id);
  state.unread_msgs.mentions.sort(ascending);
  return state;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: Wire, b: Wire): number => compare(a.name, b.name);
const byText = (a: unknown, b: unknown): number => compare(JSON.stringify(a), JSON.stringify(b));
const withoutUser = (users: Wire[], id: number): Wire[] => users.filter(({ user_id }) => user_id !== id);
