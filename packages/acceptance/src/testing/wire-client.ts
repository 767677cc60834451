import { fieldsOf, type Wire } from './expectations.js';
import type { TestServer, TestUser } from './test-server.js';
import { changeRealm, deriveOwnRights } from './wire-realm.js';
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
} as const;

export const NO_CAPABILITIES = { notification_settings_null: false } as const;

export type Capabilities = Readonly<Record<string, boolean>>;

/** Type of custom profile fields with options (users §13.1). */
const SELECT_FIELD = 3;

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
    private readonly response: Wire,
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

  static async open(server: TestServer, as: TestUser, capabilities: Capabilities): Promise<WireClient> {
    const response = await register(server, as, capabilities);
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
    const rule = RULES[name] ?? RULES[event.type];
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

async function register(server: TestServer, as: TestUser, capabilities: Capabilities): Promise<Wire> {
  const params = { client_capabilities: capabilities, client_gravatar: false, include_subscribers: 'true' };
  return fieldsOf(await server.post('/register', as, params));
}

/** State that a client must fetch again, because no event names the message that replaces a deleted one. */
interface Unsure {
  isNewestGone: boolean;
  /** Conversations by the ids of the other participants. */
  readonly conversations: Set<string>;
  /** Newest channel when the client registered. */
  readonly newestChannelId: number;
  /** Channels that became inaccessible. */
  readonly hidden: Set<number>;
  /** Channels that became accessible again; personal data in them is not sent again (channels §6.3). */
  readonly shownAgain: Set<number>;
}

interface Happening {
  readonly event: Wire;
  /** Mutated in place. */
  readonly response: Wire;
  readonly unread: WireUnread;
  readonly unsure: Unsure;
  readonly selfId: number;
  readonly can: (capability: string) => boolean;
}

type Rule = (happening: Happening) => void;

const nothing: Rule = () => {};

/** Rule for an event that contains the whole register field. */
const replaces =
  (field: string, from = field): Rule =>
  ({ response, event }) => {
    response[field] = event[from];
  };

/** Organization §11. */
const NEW_DEVICE = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

/** Rules by `type/op`, or by type for all its ops. */
const RULES: Readonly<Record<string, Rule>> = {
  heartbeat: nothing,
  typing: nothing,
  invites_changed: nothing,
  realm_export: nothing,
  realm_export_consent: nothing,
  user_status: ({ response, event: { type: _, id: __, user_id, ...changed } }) => {
    const status = { ...response.user_status[user_id], ...changed };
    if (!status.away) delete status.away;
    if (!status.status_text) delete status.status_text;
    if (!status.emoji_name) for (const name of ['emoji_name', 'emoji_code', 'reaction_type']) delete status[name];
    delete response.user_status[user_id];
    if (Object.keys(status).length > 0) response.user_status[user_id] = status;
  },
  // Reports change more than events publish.
  presence: nothing,
  alert_words: replaces('alert_words'),
  muted_users: replaces('muted_users'),
  onboarding_steps: replaces('onboarding_steps'),
  realm_linkifiers: replaces('realm_linkifiers'),
  'realm_domains/add': ({ response, event }) => {
    response.realm_domains = [...response.realm_domains, event.realm_domain];
  },
  'realm_domains/change': ({ response, event: { realm_domain: changed } }) => {
    response.realm_domains = response.realm_domains.map((known: Wire) =>
      known.domain === changed.domain ? changed : known,
    );
  },
  'realm_domains/remove': ({ response, event }) => {
    response.realm_domains = response.realm_domains.filter(({ domain }: Wire) => domain !== event.domain);
  },
  realm_playgrounds: replaces('realm_playgrounds'),
  'realm_emoji/add': ({ response, event: { emoji } }) => {
    response.realm_emoji[emoji.id] = emoji;
  },
  'realm_emoji/update_one': ({ response, event: { emoji_id, data } }) => {
    Object.assign(response.realm_emoji[emoji_id], data);
  },
  'realm_emoji/update': replaces('realm_emoji'),
  muted_topics: replaces('muted_topics'),
  default_streams: replaces('realm_default_streams', 'default_streams'),
  default_stream_groups: replaces('realm_default_stream_groups', 'default_stream_groups'),
  'user_settings/update': ({ response, event }) => {
    response.user_settings[event.property] = event.value;
    if (event.property === 'enable_drafts_synchronization' && !event.value) response.drafts = [];
  },
  'realm_user_settings_defaults/update': ({ response, event }) => {
    response.realm_user_settings_defaults[event.property] = event.value;
  },
  'realm/update': ({ response, event }) => changeRealm(response, event.property, event.value),
  'realm/update_dict': ({ response, event }) => {
    for (const [property, value] of Object.entries(event.data)) changeRealm(response, property, value);
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
  // Reactions are not in the response, but a message becomes the user's own with their reaction.
  'reaction/add': ({ response, selfId, event: { user_id, message_id } }) => {
    if (user_id === selfId) own(response, [message_id]);
  },
  'reaction/remove': nothing,
  // Files are not in the response.
  'attachment/add': nothing,
  'attachment/update': nothing,
  'attachment/remove': nothing,
  'drafts/add': ({ response, event }) => putDrafts(response, event.drafts),
  'drafts/update': ({ response, event }) => putDrafts(response, [event.draft]),
  'drafts/remove': ({ response, event: { draft_id } }) => {
    response.drafts = response.drafts.filter(({ id }: Wire) => id !== draft_id);
  },
  'saved_snippets/add': ({ response, event }) => {
    response.saved_snippets.push(event.saved_snippet);
  },
  'saved_snippets/update': ({ response, event: { saved_snippet: changed } }) => {
    response.saved_snippets = response.saved_snippets.map((it: Wire) => (it.id === changed.id ? changed : it));
  },
  'saved_snippets/remove': ({ response, event: { saved_snippet_id } }) => {
    response.saved_snippets = response.saved_snippets.filter(({ id }: Wire) => id !== saved_snippet_id);
  },
  'navigation_view/add': ({ response, event }) => {
    response.navigation_views.push(event.navigation_view);
  },
  'navigation_view/update': ({ response, event: { fragment, data } }) => {
    response.navigation_views = response.navigation_views.map((it: Wire) =>
      it.fragment === fragment ? { ...it, ...data } : it,
    );
  },
  'navigation_view/remove': ({ response, event }) => {
    response.navigation_views = response.navigation_views.filter(({ fragment }: Wire) => fragment !== event.fragment);
  },
  submessage: nothing,
  'typing/start': nothing,
  'typing/stop': nothing,
  'typing_edit_message/start': nothing,
  'typing_edit_message/stop': nothing,
  'scheduled_messages/add': ({ response, event }) => {
    for (const message of event.scheduled_messages) putScheduled(response, message);
  },
  'scheduled_messages/update': ({ response, event }) => putScheduled(response, event.scheduled_message),
  'scheduled_messages/remove': ({ response, event: { scheduled_message_id: id } }) => {
    response.scheduled_messages = response.scheduled_messages.filter((it: Wire) => it.scheduled_message_id !== id);
  },
  'reminders/add': ({ response, event }) => {
    response.reminders = [...response.reminders, ...event.reminders].sort(byTime('reminder_id'));
  },
  'reminders/remove': ({ response, event: { reminder_id: id } }) => {
    response.reminders = response.reminders.filter((it: Wire) => it.reminder_id !== id);
  },
  user_topic: ({ response, event: { type: _, id: __, ...topic } }) => {
    const isSame = (other: Wire) =>
      other.stream_id === topic.stream_id && other.topic_name.toLowerCase() === topic.topic_name.toLowerCase();
    response.user_topics = response.user_topics.filter((other: Wire) => !isSame(other));
    if (topic.visibility_policy !== 0) response.user_topics.push(topic);
  },

  'realm_bot/add': ({ response, event: { bot } }) => {
    response.realm_bots = [...response.realm_bots.filter(({ user_id }: Wire) => user_id !== bot.user_id), bot];
  },
  'realm_bot/update': ({ response, event: { bot } }) => {
    response.realm_bots = response.realm_bots.map((known: Wire) =>
      known.user_id === bot.user_id ? { ...known, ...bot } : known,
    );
  },
  'realm_bot/delete': ({ response, event: { bot } }) => {
    response.realm_bots = response.realm_bots.filter(({ user_id }: Wire) => user_id !== bot.user_id);
  },
  'device/add': ({ response, event: { device_id } }) => {
    response.devices[device_id] = NEW_DEVICE;
  },
  'device/update': ({ response, event: { type: _, op: __, id: ___, device_id, ...changed } }) => {
    response.devices[device_id] = { ...response.devices[device_id], ...changed };
  },
  'device/remove': ({ response, event: { device_id } }) => {
    delete response.devices[device_id];
  },
  'channel_folder/add': ({ response, event: { channel_folder: folder } }) => {
    response.channel_folders = [...response.channel_folders, folder].sort(byOrder);
  },
  'channel_folder/update': ({ response, event: { channel_folder_id: id, data } }) => {
    response.channel_folders = response.channel_folders.map((folder: Wire) =>
      folder.id === id ? { ...folder, ...data } : folder,
    );
  },
  'channel_folder/reorder': ({ response, event: { order } }) => {
    response.channel_folders = response.channel_folders
      .map((folder: Wire) => ({ ...folder, order: order.indexOf(folder.id) }))
      .sort(byOrder);
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

  custom_profile_fields: ({ response, event: { fields } }) => {
    response.custom_profile_fields = fields;
    // Values of deleted fields and deleted options disappear.
    const byId = new Map<string, Wire>(fields.map((field: Wire) => [String(field.id), field]));
    const isLeft = ([id, { value }]: [string, Wire]) => {
      const field = byId.get(id);
      return field !== undefined && (field.type !== SELECT_FIELD || value in JSON.parse(field.field_data));
    };
    for (const user of [...response.realm_users, ...response.realm_non_active_users]) {
      if (!user.profile_data) continue;
      user.profile_data = Object.fromEntries(Object.entries(user.profile_data).filter(isLeft));
    }
  },

  'user_group/add': ({ response, event: { group } }) => {
    response.realm_user_groups = [...response.realm_user_groups.filter(({ id }: Wire) => id !== group.id), group];
  },
  'user_group/remove': ({ response, event: { group_id } }) => {
    response.realm_user_groups = response.realm_user_groups.filter(({ id }: Wire) => id !== group_id);
  },
  'user_group/update': ({ response, event: { group_id, data } }) =>
    changeGroup(response, group_id, (group) => ({ ...group, ...data })),
  'user_group/add_members': ({ response, event: { group_id, user_ids } }) =>
    changeGroup(response, group_id, (group) => ({ ...group, members: union(group.members, user_ids) })),
  'user_group/remove_members': ({ response, event: { group_id, user_ids } }) =>
    changeGroup(response, group_id, (group) => ({ ...group, members: without(group.members, user_ids) })),
  'user_group/add_subgroups': ({ response, event: { group_id, direct_subgroup_ids: ids } }) =>
    changeGroup(response, group_id, (group) => ({
      ...group,
      direct_subgroup_ids: union(group.direct_subgroup_ids, ids),
    })),
  'user_group/remove_subgroups': ({ response, event: { group_id, direct_subgroup_ids: ids } }) =>
    changeGroup(response, group_id, (group) => ({
      ...group,
      direct_subgroup_ids: without(group.direct_subgroup_ids, ids),
    })),
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

/** Adds messages to the user's own after receipt or a flag change. */
function own(response: Wire, ids: readonly number[]): void {
  response.max_message_id = Math.max(response.max_message_id, ...ids);
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

/** Sorts by time, then by id (events §3.2). */
const byTime = (id: string) => (a: Wire, b: Wire) =>
  a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a[id] - b[id];

/** Sorts drafts by last edit, newest first (events §3.2). */
function putDrafts(response: Wire, drafts: Wire[]): void {
  const others = response.drafts.filter((it: Wire) => !drafts.some(({ id }) => id === it.id));
  response.drafts = [...others, ...drafts].sort((a: Wire, b: Wire) => b.timestamp - a.timestamp || b.id - a.id);
}

function putScheduled(response: Wire, message: Wire): void {
  const others = response.scheduled_messages.filter(
    (it: Wire) => it.scheduled_message_id !== message.scheduled_message_id,
  );
  response.scheduled_messages = [...others, message].sort(byTime('scheduled_message_id'));
}

function changeUser({ response, selfId, event: { person } }: Happening): void {
  const { user_id, is_active, new_email, role, custom_profile_field: said, ...others } = person;
  const changed = {
    ...others,
    ...(new_email !== undefined && { email: new_email }),
    ...(role !== undefined && { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 }),
  };
  for (const list of ['realm_users', 'realm_non_active_users', 'cross_realm_bots']) {
    for (const user of response[list]) if (user.user_id === user_id) assignKnown(user, changed);
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

function changeGroup(response: Wire, id: number, change: (group: Wire) => Wire): void {
  response.realm_user_groups = response.realm_user_groups.map((group: Wire) =>
    group.id === id ? change(group) : group,
  );
  deriveOwnRights(response);
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

const ascending = (a: number, b: number): number => a - b;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byOrder = (a: Wire, b: Wire): number => a.order - b.order;
const byName = (a: Wire, b: Wire): number => compare(a.name, b.name);
const byText = (a: unknown, b: unknown): number => compare(JSON.stringify(a), JSON.stringify(b));
const withoutUser = (users: Wire[], id: number): Wire[] => users.filter(({ user_id }) => user_id !== id);
const union = (ids: readonly number[], more: readonly number[]): number[] =>
  [...new Set([...ids, ...more])].sort(ascending);
const without = (ids: readonly number[], fewer: readonly number[]): number[] => ids.filter((id) => !fewer.includes(id));
