import { isDeepStrictEqual } from 'node:util';
import {
  ArchiveChannel,
  CloseChannel,
  CompareChannel,
  CreateChannel,
  type CreateChannelInput,
  DEFAULT_CHANNEL_OPTIONS,
  type ExpectedProperty,
  FindChannelId,
  GetChannel,
  MAX_CLOSING_DAYS,
  ReopenChannel,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { FindGroupId } from '@parley/domain/groups';
import {
  type Caller,
  type ChannelId,
  DomainError,
  foldCase,
  type JsonObject,
  trim,
  type UserId,
} from '@parley/domain/kernel';
import { ChangeNarrowFlags, GetUnread, MarkRead, type NarrowTerm } from '@parley/domain/messages';
import type { Resolve } from '../kernel/resolve.js';
import { integer, object, optional } from '../kernel/values.js';
import {
  argument,
  CHANNEL,
  CHECKED_BY_USE,
  FLAG,
  HOST_DATA,
  PEOPLE,
  properties,
  TEXT,
  WHERE,
} from './argument-types.js';
import { type ItemResult, itemsOf, performEach } from './bulk.js';
import { listedChannels, presentChannel } from './channel-lists.js';
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
  presentMessage,
} from './chat-messages.js';
import {
  type ChatData,
  type DataSelection,
  dataOf,
  ensureData,
  filtersOf,
  parsedData,
  requireFit,
  type SetDataOptions,
  setData,
} from './host-data.js';
import { Addresses, type PersonRef, referenceOf, type UserRef } from './references.js';

export interface ChannelToCreate {
  readonly name: string;
  /** Markdown; default: none. */
  readonly description?: string;
  /** True if only subscribers can access it; default: false. */
  readonly isPrivate?: boolean;
  /** True if new subscribers can read earlier messages; default: true for public channels, false for private ones. */
  readonly sharesHistory?: boolean;
  /** True to subscribe new users of the organization; default: false. */
  readonly isDefault?: boolean;
  /** Subscribers in addition to the creator: external ids, or Parley's own ids as numbers. */
  readonly subscribers?: readonly PersonRef[];
  /**
   * Group, such as `'role:members'`, with members who can read, join and post in a private channel without a subscription.
   * Excludes guests. Default: `'role:nobody'`.
   */
  readonly readers?: string;
  /** True to announce it in the announcement channel; default: false. */
  readonly announce?: boolean;
  /**
   * Days without messages, from 1 to 3650, after which the channel is closed as by `close`, at most a tenth of the time
   * or a day later. Default: never.
   */
  readonly closesAfterDays?: number;
  /** Data of your application, at most 4096 bytes of JSON; default: none. */
  readonly data?: JsonObject;
}

export interface SubscribersToChange {
  /** Default: the user. */
  readonly users?: PersonRef | readonly PersonRef[];
}

/** Channel of a call of `ensure`. */
export interface EnsuredChannel extends ChatChannel {
  /**
   * Properties of the call that an existing channel has otherwise, such as `['description']`; `subscribers` if one of them
   * is not subscribed. Properties that the call omits are not compared.
   */
  readonly differs: readonly (ExpectedProperty | 'data')[];
}

/** Channels by name or id with one user's permissions. Methods reject with a `DomainError`, like the API. */
export interface ChatChannels {
  create(channel: ChannelToCreate): Promise<ChatChannel>;
  /**
   * Returns the channel of this name, created if missing. An existing channel remains unchanged, even if archived, except
   * that it gets the data if its own was never set; `differs` names what it has otherwise.
   * @throws DomainError CHANNEL_NAME_TAKEN if the user cannot access the existing channel, or it is open to more people
   * than the call's `isPrivate`, `sharesHistory` and `readers` say. `isPrivate: true` without `readers` says none.
   */
  ensure(channel: ChannelToCreate): Promise<EnsuredChannel>;
  /**
   * Does the same for up to 10,000 channels. Returns one result per channel in the same order; an error affects only its
   * channel.
   * @throws DomainError INVALID_ARGUMENT before the first change
   */
  ensureMany(channels: readonly ChannelToCreate[]): Promise<readonly ItemResult<EnsuredChannel>[]>;
  /** Returns null if the user cannot access such a channel. */
  find(channel: string | number): Promise<ChatChannel | null>;
  /**
   * Returns the active channels that the user can access, by name. `where` selects channels by their data, by id; its
   * keys must be declared by `realms.declareData`.
   */
  list(selection?: { readonly where?: DataSelection }): Promise<readonly ChatChannel[]>;
  /** Subscribes users to a channel. Idempotent. */
  subscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  unsubscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  archive(channel: string | number): Promise<void>;
  /** Archives the channel until `reopen`, or the next message that somebody sends to it by `messages.send`. */
  close(channel: string | number): Promise<void>;
  /**
   * Unarchives a closed channel for somebody who may post in it. Returns false if it is not closed, but open or archived
   * otherwise.
   */
  reopen(channel: string | number): Promise<boolean>;
  /** Replaces the data of a channel that the user administers; `{}` removes it. */
  setData(channel: string | number, data: JsonObject, options?: SetDataOptions): Promise<ChatData>;
}

export interface ChannelsParts {
  readonly resolve: Resolve;
  readonly addresses: Addresses;
  readonly realm: string;
  readonly caller: () => Promise<Caller>;
}

/** Finds a channel by name or id. @throws DomainError UNKNOWN_CHANNEL */
export const findChannelId = (
  resolve: Resolve,
  caller: Caller,
  channel: string | number,
): ChannelId | Promise<ChannelId> => {
  argument('channel', CHANNEL, channel);
  return typeof channel === 'number'
    ? (channel as ChannelId)
    : resolve(FindChannelId).execute(caller, { name: channel, includesArchived: true });
};

const NEW_CHANNEL = object({
  name: TEXT,
  description: optional(TEXT),
  isPrivate: optional(FLAG),
  sharesHistory: optional(FLAG),
  isDefault: optional(FLAG),
  subscribers: optional(PEOPLE),
  readers: optional(TEXT),
  announce: optional(FLAG),
  closesAfterDays: optional(integer({ min: 1, max: MAX_CLOSING_DAYS })),
  data: optional(HOST_DATA),
});
const CHANNEL_SELECTION = object({ where: optional(WHERE) });
const SUBSCRIBERS = object({ users: optional(PEOPLE) });
const SCOPE = object({ channel: optional(CHANNEL), topic: optional(TEXT), with: optional(PEOPLE) });
const UNREAD_OPTIONS = object({ last: optional(CHECKED_BY_USE) });
const CHAT_OPTIONS = object({ client: optional(TEXT) });

/** Finds the group and users that the channel names. @throws DomainError UNKNOWN_USER, UNKNOWN_GROUP */
async function peopleOf(
  { resolve, addresses }: Pick<ChannelsParts, 'resolve' | 'addresses'>,
  who: Caller,
  { subscribers, readers }: { readonly subscribers?: PersonRef | readonly PersonRef[]; readonly readers?: string },
) {
  return {
    ...(subscribers !== undefined && {
      subscribers: await addresses.userIds(who.realmId, 'subscribers', listOf(subscribers)),
    }),
    ...(readers !== undefined && { readers: await resolve(FindGroupId).execute(who, { name: readers }) }),
  };
}

/** Converts a channel to the use case's input. @throws DomainError INVALID_ARGUMENT, UNKNOWN_USER, UNKNOWN_GROUP */
async function creationOf(
  parts: Pick<ChannelsParts, 'resolve' | 'addresses'>,
  who: Caller,
  channel: ChannelToCreate,
): Promise<CreateChannelInput> {
  const given = properties('The channel', NEW_CHANNEL, channel);
  const { name, description = '', isPrivate = false, announce = false } = given;
  const { subscribers = [], readers } = await peopleOf(parts, who, given);
  return {
    ...DEFAULT_CHANNEL_OPTIONS,
    name,
    description,
    isPrivate,
    sharesHistory: given.sharesHistory ?? null,
    isDefault: given.isDefault ?? false,
    announce,
    ...(readers !== undefined && { permissions: { canSubscribe: readers } }),
    ...(given.closesAfterDays !== undefined && { closesAfterDays: given.closesAfterDays }),
    subscriberIds: [...new Set([who.userId, ...subscribers])],
  };
}

const channelWithData = async (
  { resolve, caller }: Pick<ChannelsParts, 'resolve' | 'caller'>,
  channel: ChatChannel,
  data: JsonObject | undefined,
) => ensureData(resolve, { kind: 'channel', id: channel.id as ChannelId, caller: await caller() }, channel, data);

/** Compares only what the call names, since a repeated call may name less than the first one. */
async function compared(
  parts: Pick<ChannelsParts, 'resolve' | 'addresses' | 'caller'>,
  existing: ChatChannel,
  wanted: ChannelToCreate,
): Promise<EnsuredChannel> {
  const who = await parts.caller();
  const { readers: _, subscribers: __, ...rest } = wanted;
  const expected = { ...rest, ...(await peopleOf(parts, who, wanted)) };
  const differs = await parts.resolve(CompareChannel).execute(who, existing.id as ChannelId, expected);
  const data = parsedData(wanted.data);
  const channel = await channelWithData(parts, existing, data);
  const hasData = data === undefined || isDeepStrictEqual(channel.data, data);
  return { ...channel, differs: hasData ? differs : [...differs, 'data'] };
}

export function chatChannels({ resolve, addresses, realm, caller }: ChannelsParts): ChatChannels {
  const idOf = async (channel: string | number) => findChannelId(resolve, await caller(), channel);
  const view = async (channelId: ChannelId) => {
    const who = await caller();
    const channel = await resolve(GetChannel).execute(who, { channelId });
    return presentChannel(channel, realm, (await dataOf(resolve, who.realmId, 'channel', [channelId]))(channelId));
  };
  const withData = (channel: ChatChannel, data: JsonObject | undefined) =>
    channelWithData({ resolve, caller }, channel, data);
  const nameOf = async (channel: string | number) => (await view(await idOf(channel))).name;
  const principals = async (subscribers: SubscribersToChange): Promise<readonly UserId[] | null> => {
    const { users } = properties('The subscribers', SUBSCRIBERS, subscribers);
    return users === undefined ? null : addresses.userIds((await caller()).realmId, 'users', listOf(users));
  };

  const channels: ChatChannels = {
    async create(channel) {
      const data = parsedData(properties('The channel', NEW_CHANNEL, channel).data);
      const who = await caller();
      await requireFit(resolve, who.realmId, 'channel', data);
      const input = await creationOf({ resolve, addresses }, who, channel);
      return withData(await view(await resolve(CreateChannel).execute(who, input)), data);
    },
    async ensure(channel) {
      const { name, data } = properties('The channel', NEW_CHANNEL, channel);
      parsedData(data);
      const existing = await channels.find(name);
      if (existing) return compared({ resolve, addresses, caller }, existing, channel);
      try {
        return { ...(await channels.create(channel)), differs: [] };
      } catch (error) {
        // The channel was created concurrently, or is not accessible to the user.
        if (!(error instanceof DomainError && error.is('CHANNEL_NAME_TAKEN'))) throw error;
        const made = await channels.find(name);
        if (!made) throw error;
        return compared({ resolve, addresses, caller }, made, channel);
      }
    },
    async ensureMany(given) {
      const wanted = itemsOf('channels', NEW_CHANNEL, given) as readonly ChannelToCreate[];
      return performEach(wanted, ({ name }) => foldCase(trim(name)), channels.ensure);
    },
    async find(channel) {
      try {
        return await view(await idOf(channel));
      } catch (error) {
        if (error instanceof DomainError && error.is('UNKNOWN_CHANNEL')) return null;
        throw error;
      }
    },
    async list(selection = {}) {
      const { where = {} } = properties('The selection', CHANNEL_SELECTION, selection);
      const filters = filtersOf(where);
      return listedChannels({ resolve, realm }, await caller(), filters);
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
    close: async (channel) => resolve(CloseChannel).execute(await caller(), { channelId: await idOf(channel) }),
    reopen: async (channel) => resolve(ReopenChannel).execute(await caller(), { channelId: await idOf(channel) }),
    setData: async (channel, data, options) =>
      setData(resolve, { kind: 'channel', id: await idOf(channel), caller: await caller() }, data, options),
  };
  return channels;
}

export interface UnreadCount {
  /** Number for a badge; excludes muted channels and topics. */
  readonly messages: number;
  /** Number of unread messages that mention the user, including relevant wildcard mentions. */
  readonly mentions: number;
  /** False if unread messages older than the newest 50,000 were not counted. */
  readonly isComplete: boolean;
}

/** Topic or direct conversation with unread messages. */
export interface ChatUnreadConversation {
  /** Null for direct messages. */
  readonly channel: { readonly id: number; readonly name: string } | null;
  /** `''` for direct messages and for the empty topic. */
  readonly topic: string;
  /** All participants of a direct conversation, including the user; empty in channels. */
  readonly people: readonly ChatPerson[];
  readonly messages: number;
  readonly mentions: number;
  readonly isMuted: boolean;
  /** Ids of the oldest and the newest unread message. */
  readonly firstId: number;
  readonly lastId: number;
}

/** Messages to mark as read; an empty scope means all. */
export type ReadScope =
  | { readonly channel?: undefined; readonly topic?: undefined; readonly with?: undefined }
  | { readonly channel: string | number; readonly topic?: string; readonly with?: undefined }
  /** Direct conversation with exactly these users. */
  | { readonly with: PersonRef | readonly PersonRef[]; readonly channel?: undefined; readonly topic?: undefined };

/**
 * Unread messages of one user as clients count them: subscribed channels without archived ones, and direct messages.
 * The cost depends on the number of unread messages only. Methods reject with a `DomainError`, like the API.
 */
export interface ChatUnread {
  count(): Promise<UnreadCount>;
  /**
   * Returns conversations by newest unread message, newest first. `last` limits their number, up to 1000; default:
   * 100.
   */
  list(options?: { readonly last?: number }): Promise<readonly ChatUnreadConversation[]>;
  markRead(scope?: ReadScope): Promise<void>;
}

const DEFAULT_LAST = 100;
/** Number of messages to mark as read per transaction. */
const MARKED_AT_ONCE = 1000;

export function chatUnread(parts: MessagesParts): ChatUnread {
  const { resolve, caller, channelId, addresses, realm } = parts;
  return {
    async count() {
      const { count, mentionCount, isComplete } = await resolve(GetUnread).execute(await caller(), { limit: 0 });
      return { messages: count, mentions: mentionCount, isComplete };
    },
    async list(options = {}) {
      const { last = DEFAULT_LAST } = properties('The options', UNREAD_OPTIONS, options);
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
      const { channel, topic, with: people } = properties('The scope', SCOPE, scope);
      const who = await caller();
      if (people !== undefined) return markNarrow(parts, who, await narrowOf(parts, who, { with: people }));
      if (channel === undefined) return resolve(MarkRead).execute(who, { scope: { kind: 'everything' } });
      const id = await channelId(who, channel);
      await resolve(MarkRead).execute(who, {
        scope: topic === undefined ? { kind: 'channel', channelId: id } : { kind: 'topic', channelId: id, topic },
      });
    },
  };
}

/** Marks a narrow in separate transactions, so that others can run in between. */
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
  /** Client name of sent messages, at most 30 characters; default: `parley`. */
  readonly client?: string;
}

/** Chat with one user's permissions. */
export interface Chat {
  readonly messages: ChatMessages;
  readonly channels: ChatChannels;
  readonly unread: ChatUnread;
  /** Returns the caller for use cases of `parley.useCase`. */
  caller(): Promise<Caller>;
}

const DEFAULT_CLIENT = 'parley';

export function chatAs(resolve: Resolve, ref: UserRef, options: ChatOptions = {}): Chat {
  const addresses = resolve(Addresses);
  // Checked immediately, so that the error points to the `as` call.
  referenceOf(ref);
  argument('realm', TEXT, ref.realm);
  const { client = DEFAULT_CLIENT } = properties('The options', CHAT_OPTIONS, options);
  // Resolved on each call to find users created later; known users are cached.
  const caller = () => addresses.caller(ref, client);
  const parts: ChannelsParts = { resolve, addresses, realm: ref.realm, caller };
  let messages: ChatMessages | undefined;
  let channels: ChatChannels | undefined;
  const messagesParts = () => ({
    ...parts,
    channelId: (who: Caller, channel: string | number) => findChannelId(resolve, who, channel),
  });
  // Created on access, since most callers need only one of these objects.
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
