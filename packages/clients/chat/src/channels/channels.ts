import type { Channel, InitialState, Subscription, UserTopic } from '@parley/client';
import {
  type ChannelState,
  type ChatState,
  type EventRules,
  type StatePart,
  topicKey,
  union,
  without,
} from '../kernel/state.js';

const OWN_PROPERTIES = [
  'color',
  'is_muted',
  'in_home_view',
  'pin_to_top',
  'desktop_notifications',
  'audible_notifications',
  'push_notifications',
  'email_notifications',
  'wildcard_mentions_notify',
] as const;

const MEMBERSHIPS = {
  streams: null,
  subscriptions: 'subscribed',
  unsubscribed: 'former',
  never_subscribed: 'never',
} as const;

/** Returns the tables of a register response. */
function tablesOf(answer: Partial<InitialState>) {
  const channels = new Map<number, ChannelState>();
  const subscribers = new Map<number, readonly number[]>();
  for (const [list, membership] of Object.entries(MEMBERSHIPS) as [
    keyof typeof MEMBERSHIPS,
    ChannelState['membership'],
  ][]) {
    for (const row of (answer[list] ?? []) as readonly (Channel & Partial<Subscription>)[]) {
      channels.set(row.stream_id, { ...split(row), membership });
      if (row.subscribers) subscribers.set(row.stream_id, row.subscribers);
    }
  }
  return { channels, subscribers, topics: answer.user_topics ?? [] };
}

const entryOf = (topic: UserTopic) => [topicKey(topic.stream_id, topic.topic_name), topic] as const;

export const CHANNELS_PART: StatePart = {
  begin(state, answer) {
    const { channels, subscribers, topics } = tablesOf(answer);
    state.channels.reset(channels);
    state.subscribers.reset(subscribers);
    state.policies.reset(topics.map(entryOf));
  },
  add(state, answer, isWanted) {
    const { channels, subscribers, topics } = tablesOf(answer);
    for (const topic of topics) if (isWanted(topic.stream_id)) state.policies.set(...entryOf(topic));
    for (const [id, row] of channels) {
      if (!isWanted(id) || state.channels.peek(id)) continue;
      state.channels.set(id, row);
      const ids = subscribers.get(id);
      if (ids) state.subscribers.set(id, ids);
    }
  },
  present(state) {
    const rows = [...state.channels.all().values()].sort((a, b) => compare(a.channel.name, b.channel.name));
    const listed = (wanted: ChannelState['membership']) =>
      rows
        .filter(({ membership }) => membership === wanted)
        .map(({ channel, own }) => {
          const subscribers = state.subscribers.peek(channel.stream_id);
          return { ...channel, ...own, ...(subscribers && { subscribers }) };
        });
    return {
      streams: listed(null),
      subscriptions: listed('subscribed'),
      unsubscribed: listed('former'),
      never_subscribed: listed('never'),
      user_topics: [...state.policies.all().values()],
    } as Partial<InitialState>;
  },
};

export const CHANNEL_RULES: Pick<
  EventRules,
  | 'stream'
  | 'subscription'
  | 'user_topic'
  | 'muted_topics'
  | 'default_streams'
  | 'default_stream_groups'
  | 'channel_folder'
> = {
  stream(state, event) {
    switch (event.op) {
      case 'create':
        for (const channel of event.streams) {
          const isListed = state.fields.peek('is_guest') !== true || channel.is_web_public;
          state.channels.set(channel.stream_id, {
            channel,
            own: null,
            membership: isListed ? 'never' : null,
          });
          if (isListed) state.subscribers.set(channel.stream_id, []);
        }
        return;
      case 'delete':
        forgetPolicies(state, event.stream_ids);
        for (const id of event.stream_ids) {
          state.channels.delete(id);
          state.subscribers.delete(id);
        }
        return;
      case 'update': {
        const { type: _, op: __, id: ___, name, stream_id, property, value, ...more } = event;
        change(state, stream_id, { [property]: value, ...more });
        if (property === 'name') renameInMutedTopics(state, name, value);
        if (property === 'is_archived' && value) forgetPolicies(state, [stream_id]);
      }
    }
  },
  subscription(state, event) {
    switch (event.op) {
      case 'add':
        for (const subscription of event.subscriptions) {
          const id = subscription.stream_id;
          state.channels.set(id, { ...split(subscription), membership: 'subscribed' });
          if (subscription.subscribers) state.subscribers.set(id, subscription.subscribers);
        }
        return;
      case 'remove':
        for (const { stream_id: id } of event.subscriptions) {
          state.channels.change(id, (entry) =>
            entry.membership === 'subscribed' ? { ...entry, membership: 'former' } : entry,
          );
          state.subscribers.change(id, (ids) => without(ids, [state.selfId]));
        }
        return;
      case 'update':
        state.channels.change(event.stream_id, (entry) =>
          entry.own ? { ...entry, own: { ...entry.own, [event.property]: event.value } } : entry,
        );
        return;
      case 'peer_add':
      case 'peer_remove': {
        const next = event.op === 'peer_add' ? union : without;
        for (const id of event.stream_ids) state.subscribers.change(id, (ids) => next(ids, event.user_ids));
      }
    }
  },
  user_topic(state, { type: _, id: __, ...topic }) {
    const key = topicKey(topic.stream_id, topic.topic_name);
    // Deleted first, so that the latest change moves to the end of the table.
    state.policies.delete(key);
    if (topic.visibility_policy !== 0) state.policies.set(key, topic);
  },
  muted_topics: (state, event) => state.fields.set('muted_topics', event.muted_topics),
  default_streams: (state, event) => state.fields.set('realm_default_streams', event.default_streams),
  default_stream_groups: (state, event) => state.fields.set('realm_default_stream_groups', event.default_stream_groups),
  channel_folder(state, event) {
    state.fields.change('channel_folders', (folders) => {
      switch (event.op) {
        case 'add':
          return [...folders, event.channel_folder].sort(byOrder);
        case 'update':
          return folders.map((folder) =>
            folder.id === event.channel_folder_id ? { ...folder, ...event.data } : folder,
          );
        case 'reorder':
          return folders.map((folder) => ({ ...folder, order: event.order.indexOf(folder.id) })).sort(byOrder);
      }
    });
  },
};

/** Separates the user's subscription settings from the channel. */
function split(row: Channel & Partial<Subscription>): Pick<ChannelState, 'channel' | 'own'> {
  const { subscribers: _, ...rest } = row;
  const channel = { ...rest } as Record<string, unknown>;
  const own: Record<string, unknown> = {};
  for (const property of OWN_PROPERTIES) {
    if (!(property in channel)) continue;
    own[property] = channel[property];
    delete channel[property];
  }
  return {
    channel: channel as unknown as Channel,
    own: Object.keys(own).length > 0 ? (own as unknown as NonNullable<ChannelState['own']>) : null,
  };
}

export function change(state: ChatState, id: number, changed: Partial<Channel>): void {
  state.channels.change(id, (entry) => ({ ...entry, channel: { ...entry.channel, ...changed } }));
}

/** Removes topic policies of archived and inaccessible channels, which are hidden from the user (channels §7). */
function forgetPolicies(state: ChatState, ids: readonly number[]): void {
  const names = new Set(ids.map((id) => state.channels.peek(id)?.channel.name));
  for (const [key, { stream_id }] of [...state.policies.all()]) if (ids.includes(stream_id)) state.policies.delete(key);
  state.fields.change('muted_topics', (topics) => topics.filter(([name]) => !names.has(name as string)));
}

/** The legacy list of muted topics uses channel names (channels §6.6). */
function renameInMutedTopics(state: ChatState, from: string, to: unknown): void {
  state.fields.change('muted_topics', (topics) =>
    topics.map((topic) => (topic[0] === from ? [to as string, ...topic.slice(1)] : topic)),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byOrder = (a: { readonly order: number }, b: { readonly order: number }): number => a.order - b.order;
