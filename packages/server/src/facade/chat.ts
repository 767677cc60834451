import {
  ArchiveChannel,
  CreateChannel,
  DEFAULT_CHANNEL_OPTIONS,
  FindChannelId,
  GetChannel,
  ListChannels,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { type Caller, type ChannelId, DomainError, type UserId } from '@parley/domain/kernel';
import { ChangeNarrowFlags, GetUnread, MarkRead, type NarrowTerm } from '@parley/domain/messages';
import type { Resolve } from '../injector.js';
import {
  type ChatChannel,
  type ChatMessages,
  type ChatPerson,
  chatMessages,
  listOf,
  type MessagesParts,
  narrowOf,
  peopleBy,
  peopleIn,
  presentChannel,
  presentMessage,
} from './chat-messages.js';
import { Addresses, type PersonRef, type UserRef } from './references.js';

export interface ChannelToCreate {
  readonly name: string;
  /** Markdown; default: none. */
  readonly description?: string;
  /** Only subscribers see it; default: false. */
  readonly isPrivate?: boolean;
  /** Of a private one: whether newcomers can read what was said before they came; default: true. */
  readonly sharesHistory?: boolean;
  /** Newcomers of the organization are subscribed to it; default: false. */
  readonly isDefault?: boolean;
  /** Beside the one who creates it: external ids, or Parley's own as numbers. */
  readonly subscribers?: readonly PersonRef[];
  /** Say so in the channel for announcements; default: false. */
  readonly announce?: boolean;
}

export interface SubscribersToChange {
  /** Default: the user themselves. */
  readonly users?: PersonRef | readonly PersonRef[];
}

/** Channels, as one user may see and change them; by name or id. Everything refuses as the API does, with a `DomainError`. */
export interface ChatChannels {
  create(channel: ChannelToCreate): Promise<ChatChannel>;
  /** The one of this name, or a new one; of one that is there nothing is changed. */
  ensure(channel: ChannelToCreate): Promise<ChatChannel>;
  /** Null: there is none that the user can read. */
  find(channel: string | number): Promise<ChatChannel | null>;
  /** Those that are in use, of which the user may know; by name. */
  list(): Promise<readonly ChatChannel[]>;
  /** Once more: without effect. */
  subscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  unsubscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  archive(channel: string | number): Promise<void>;
}

export interface ChannelsParts {
  readonly resolve: Resolve;
  readonly addresses: Addresses;
  readonly realm: string;
  readonly caller: () => Promise<Caller>;
}

/** By name or id. @throws DomainError UNKNOWN_CHANNEL */
export const findChannelId = (
  resolve: Resolve,
  caller: Caller,
  channel: string | number,
): ChannelId | Promise<ChannelId> =>
  typeof channel === 'number' ? (channel as ChannelId) : resolve(FindChannelId).execute(caller, { name: channel });

export function chatChannels({ resolve, addresses, realm, caller }: ChannelsParts): ChatChannels {
  const idOf = async (channel: string | number) => findChannelId(resolve, await caller(), channel);
  const view = async (channelId: ChannelId) =>
    presentChannel(await resolve(GetChannel).execute(await caller(), { channelId }), realm);
  const nameOf = async (channel: string | number) => (await view(await idOf(channel))).name;
  const principals = async ({ users }: SubscribersToChange): Promise<readonly UserId[] | null> =>
    users === undefined ? null : addresses.userIds((await caller()).realmId, listOf(users));

  const channels: ChatChannels = {
    async create({ name, description = '', isPrivate = false, subscribers = [], announce = false, ...more }) {
      const who = await caller();
      const others = await addresses.userIds(who.realmId, subscribers);
      const channelId = await resolve(CreateChannel).execute(who, {
        ...DEFAULT_CHANNEL_OPTIONS,
        name,
        description,
        isPrivate,
        sharesHistory: more.sharesHistory ?? null,
        isDefault: more.isDefault ?? false,
        announce,
        subscriberIds: [...new Set([who.userId, ...others])],
      });
      return view(channelId);
    },
    async ensure(channel) {
      const existing = await channels.find(channel.name);
      if (existing) return existing;
      try {
        return await channels.create(channel);
      } catch (error) {
        // Somebody was quicker; or there is one that the user cannot read.
        if (!(error instanceof DomainError && error.is('CHANNEL_NAME_TAKEN'))) throw error;
        const made = await channels.find(channel.name);
        if (!made) throw error;
        return made;
      }
    },
    async find(channel) {
      try {
        return await view(await idOf(channel));
      } catch (error) {
        if (error instanceof DomainError && error.is('UNKNOWN_CHANNEL')) return null;
        throw error;
      }
    },
    async list() {
      const { channels: all } = await resolve(ListChannels).execute(await caller(), {
        includePublic: true,
        includeWebPublic: true,
        includeSubscribed: true,
        includeOwnerSubscribed: false,
        includeReadable: false,
        includeAll: true,
        includeAllActive: false,
        excludeArchived: true,
        includeDefault: true,
      });
      return all.map((channel) => presentChannel(channel, realm));
    },
    async subscribe(channel, subscribers = {}) {
      const name = await nameOf(channel);
      await resolve(SubscribeUsers).execute(await caller(), {
        channels: [{ name, color: null, description: '' }],
        principals: await principals(subscribers),
        options: DEFAULT_CHANNEL_OPTIONS,
        announce: false,
        failsOnInaccessible: true,
        notifyNewSubscribers: false,
      });
    },
    async unsubscribe(channel, subscribers = {}) {
      const channelNames = [await nameOf(channel)];
      await resolve(UnsubscribeUsers).execute(await caller(), {
        channelNames,
        principals: await principals(subscribers),
      });
    },
    archive: async (channel) => resolve(ArchiveChannel).execute(await caller(), { channelId: await idOf(channel) }),
  };
  return channels;
}

export interface UnreadCount {
  /** Without those in muted channels and topics: the number for a badge. */
  readonly messages: number;
  /** Of all that is unread, those that name the user, or everybody where that matters to them. */
  readonly mentions: number;
  /** False: there are older ones than the newest 50,000, which are not counted. */
  readonly isComplete: boolean;
}

/** A topic, or a direct conversation, in which something is unread. */
export interface ChatUnreadConversation {
  /** Null: direct messages. */
  readonly channel: { readonly id: number; readonly name: string } | null;
  /** `''` for direct messages, and for what is under no topic. */
  readonly topic: string;
  /** Everybody in a direct conversation, the user among them; empty in channels. */
  readonly people: readonly ChatPerson[];
  readonly messages: number;
  readonly mentions: number;
  readonly isMuted: boolean;
  /** Of the oldest unread message, and of the newest one. */
  readonly firstId: number;
  readonly lastId: number;
}

/** What is to become read; nothing named: everything. */
export type ReadScope =
  | { readonly channel?: undefined; readonly topic?: undefined; readonly with?: undefined }
  | { readonly channel: string | number; readonly topic?: string; readonly with?: undefined }
  /** The direct conversation with exactly these people. */
  | { readonly with: PersonRef | readonly PersonRef[]; readonly channel?: undefined; readonly topic?: undefined };

/**
 * What one user has not read, as clients of theirs count it: subscribed channels and direct messages, without archived channels.
 * Costs what is unread costs, however much was read. Everything refuses as the API does, with a `DomainError`.
 */
export interface ChatUnread {
  count(): Promise<UnreadCount>;
  /** The one with the newest unread message first; `last`: so many at most, up to 1000; default: 100. */
  list(options?: { readonly last?: number }): Promise<readonly ChatUnreadConversation[]>;
  markRead(scope?: ReadScope): Promise<void>;
}

const DEFAULT_LAST = 100;
/** Of messages that become read in one unit. */
const MARKED_AT_ONCE = 1000;

export function chatUnread(parts: MessagesParts): ChatUnread {
  const { resolve, caller, channelId, addresses, realm } = parts;
  return {
    async count() {
      const { count, mentionCount, isComplete } = await resolve(GetUnread).execute(await caller(), { limit: 0 });
      return { messages: count, mentions: mentionCount, isComplete };
    },
    async list({ last = DEFAULT_LAST } = {}) {
      const who = await caller();
      const { conversations } = await resolve(GetUnread).execute(who, { limit: last });
      const people = peopleIn(conversations.map(({ newest }) => newest));
      const person = peopleBy(await addresses.externalIdsOf(who.realmId, people));
      return conversations.map(({ newest, firstId, count, mentionCount, isMuted }) => {
        const { id, channel, topic, people: inIt } = presentMessage(newest, realm, person);
        return { channel, topic, people: inIt, messages: count, mentions: mentionCount, isMuted, firstId, lastId: id };
      });
    },
    async markRead(scope = {}) {
      const who = await caller();
      if (scope.with !== undefined) return markNarrow(parts, who, await narrowOf(parts, who, { with: scope.with }));
      const { channel, topic } = scope;
      if (channel === undefined) return resolve(MarkRead).execute(who, { scope: { kind: 'everything' } });
      const id = await channelId(who, channel);
      await resolve(MarkRead).execute(who, {
        scope: topic === undefined ? { kind: 'channel', channelId: id } : { kind: 'topic', channelId: id, topic },
      });
    },
  };
}

/** In units of their own, so that others have their turn in between. */
async function markNarrow(
  { resolve }: MessagesParts,
  who: Awaited<ReturnType<MessagesParts['caller']>>,
  narrow: readonly NarrowTerm[],
): Promise<void> {
  const unread = [...narrow, { operator: 'is', operand: 'unread', negated: false }];
  const range = { anchor: { kind: 'oldest' }, before: 0, after: MARKED_AT_ONCE, includeAnchor: true } as const;
  while (true) {
    const { processedCount, foundNewest } = await resolve(ChangeNarrowFlags).execute(who, {
      narrow: unread,
      range,
      op: 'add',
      flag: 'read',
    });
    if (foundNewest || processedCount === 0) return;
  }
}

export interface ChatOptions {
  /** What messages say they were sent with, at most 30 characters; default: `parley`. */
  readonly client?: string;
}

/** The chat as one user has it, with that user's permissions. */
export interface Chat {
  readonly messages: ChatMessages;
  readonly channels: ChatChannels;
  readonly unread: ChatUnread;
  /** What the use cases of `parley.useCase` take. */
  caller(): Promise<Caller>;
}

const DEFAULT_CLIENT = 'parley';

export function chatAs(resolve: Resolve, ref: UserRef, { client = DEFAULT_CLIENT }: ChatOptions = {}): Chat {
  const addresses = resolve(Addresses);
  // Looked up with each call: who comes later is found then, and what is kept at hand is not looked up again.
  const caller = () => addresses.caller(ref, client);
  const parts: ChannelsParts = { resolve, addresses, realm: ref.realm, caller };
  let messages: ChatMessages | undefined;
  let channels: ChatChannels | undefined;
  const messagesParts = () => ({
    ...parts,
    channelId: (who: Caller, channel: string | number) => findChannelId(resolve, who, channel),
  });
  // Most of these objects are made for one call of theirs.
  return {
    get messages() {
      messages ??= chatMessages(messagesParts());
      return messages;
    },
    get channels() {
      channels ??= chatChannels(parts);
      return channels;
    },
    get unread() {
      return chatUnread(messagesParts());
    },
    caller,
  };
}
