import type { Role } from '@parley/domain/access';
import {
  type Caller,
  type ChannelId,
  DomainError,
  getOrThrow,
  isLongerThan,
  type JsonObject,
  type MessageId,
  type RealmId,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { HostUser } from '@parley/domain/membership';
import {
  type Anchor,
  ChangeMessageFlags,
  GetMessage,
  GetMessages,
  type MessageView,
  type NarrowTerm,
  type PageRange,
  type PersonalFlags,
  type UserSummary,
} from '@parley/domain/messages';
import {
  AddReaction,
  type Addressee,
  DeleteMessage,
  MAX_EXTERNAL_MESSAGE_ID_LENGTH,
  RemoveReaction,
  type SendMessageInput,
  UpdateMessage,
} from '@parley/domain/writing';
import type { Resolve } from '../kernel/resolve.js';
import { described, integer, object, optional, refine, shown, valueType } from '../kernel/values.js';
import {
  argument,
  CHANNEL,
  CHECKED_BY_USE,
  EXTERNAL_ID,
  FLAG,
  HOST_DATA,
  ID,
  IDS,
  invalidArgument,
  PEOPLE,
  properties,
  TEXT,
  WHERE,
} from './argument-types.js';
import { sendReopening } from './closed-channels.js';
import {
  type ChatData,
  type DataSelection,
  filtersOf,
  parsedData,
  presentData,
  type SetDataOptions,
  setData,
} from './host-data.js';
import type { Addresses, PersonRef } from './references.js';

export interface ChatUser extends ChatData {
  readonly id: number;
  /** Null if your application has not assigned one. */
  readonly externalId: string | null;
  readonly realm: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly isBot: boolean;
  readonly isActive: boolean;
}

/** User reference in messages. */
export interface ChatPerson {
  readonly id: number;
  readonly externalId: string | null;
  readonly name: string;
}

export interface ChatMessage extends ChatData {
  readonly id: number;
  readonly realm: string;
  readonly sender: ChatPerson;
  /** Null for a direct message. */
  readonly channel: { readonly id: number; readonly name: string } | null;
  /** `''` for direct messages and for the empty topic. */
  readonly topic: string;
  /** All participants of a direct conversation, including the sender; empty in channels. */
  readonly people: readonly ChatPerson[];
  /** Markdown. */
  readonly content: string;
  readonly html: string;
  readonly sentAt: Date;
  /** Time of the last text edit; null if never edited. */
  readonly editedAt: Date | null;
  /** Client name. */
  readonly client: string;
}

/** Message with one user's state. */
export interface OwnChatMessage extends ChatMessage {
  readonly isRead: boolean;
  readonly isStarred: boolean;
  /** True for mentions by name, by group and by wildcard. */
  readonly isMentioned: boolean;
}

export interface ChatChannel extends ChatData {
  readonly id: number;
  readonly realm: string;
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isArchived: boolean;
  readonly subscribers: number;
}

/** External ids by user. */
export type ExternalIds = ReadonlyMap<UserId, string>;

export const presentUser = ({ user, externalId }: HostUser, realm: string, data: ChatData): ChatUser => ({
  id: user.id,
  externalId,
  realm,
  name: user.fullName,
  email: user.email,
  role: user.role,
  isBot: user.bot !== null,
  isActive: user.isActive,
  ...data,
});

/** Returns the users of messages who may have an external id, which excludes system bots. May contain duplicates. */
export function peopleIn(views: readonly MessageView[]): readonly UserId[] {
  const ids: UserId[] = [];
  const add = ({ id, isSystemBot }: UserSummary) => {
    if (!isSystemBot) ids.push(id);
  };
  for (const { sender, conversation } of views) {
    add(sender);
    if (conversation.kind === 'direct') conversation.participants.forEach(add);
  }
  return ids;
}

/** Returns a presenter that presents each user once. */
export function peopleBy(
  externalIds: ExternalIds,
  hidden: ReadonlySet<UserId> = new Set(),
): (person: { readonly id: UserId; readonly fullName: string }) => ChatPerson {
  const loaded = new Map<UserId, ChatPerson>();
  return ({ id, fullName }) => {
    let person = loaded.get(id);
    if (!person) {
      person = hidden.has(id)
        ? { id, externalId: null, name: 'Unknown user' }
        : { id, externalId: externalIds.get(id) ?? null, name: fullName };
      loaded.set(id, person);
    }
    return person;
  };
}

export const presentMessage = (
  { message, sender, conversation, hostData }: MessageView,
  realm: string,
  person: ReturnType<typeof peopleBy>,
): ChatMessage => ({
  id: message.id,
  realm,
  sender: person(sender),
  channel: conversation.kind === 'channel' ? { id: conversation.channelId, name: conversation.name } : null,
  topic: message.topic,
  people: conversation.kind === 'direct' ? conversation.participants.map(person) : [],
  content: message.content,
  html: message.renderedContent,
  sentAt: new Date(message.sentAt * 1000),
  editedAt: message.lastEditedAt === null ? null : new Date(message.lastEditedAt * 1000),
  client: message.clientName,
  ...presentData(hostData),
});

/** Presents a message with one user's state. */
export const presentOwnMessage = (
  view: MessageView,
  realm: string,
  person: ReturnType<typeof peopleBy>,
  flags: PersonalFlags,
): OwnChatMessage => {
  const message = presentMessage(view, realm, person) as {
    -readonly [Field in keyof OwnChatMessage]: OwnChatMessage[Field];
  };
  // Mutates the message, since copying it is much slower.
  message.isRead = flags.read;
  message.isStarred = flags.starred;
  message.isMentioned = flags.mentioned || flags.channelWildcardMentioned || flags.topicWildcardMentioned;
  return message;
};

/** Message to a channel, by name or id, or to users. */
export type MessageToSend = {
  /** Markdown. */
  readonly content: string;
  /** True if the message is read for its sender; default: true. */
  readonly isReadBySender?: boolean;
  /**
   * Time in the past, for messages of your application's history. They arrive read, notify nobody, and follow all other
   * messages in clients, which sort by id. Default: now.
   */
  readonly sentAt?: Date;
  /**
   * Your id of the message, unique in the organization. A repetition of the call sends nothing and returns the first
   * message. The id is refused to another sender, destination, topic or text.
   */
  readonly externalId?: string;
  /** Data of your application, at most 4096 bytes of JSON; default: none. */
  readonly data?: JsonObject;
} & (
  | {
      readonly channel: string | number;
      /** Default: none. */
      readonly topic?: string;
      readonly to?: never;
    }
  | {
      /** External ids, or Parley's own ids as numbers. */
      readonly to: PersonRef | readonly PersonRef[];
      readonly channel?: never;
      readonly topic?: never;
    }
);

const MESSAGE = object({
  content: TEXT,
  isReadBySender: optional(FLAG),
  sentAt: optional(valueType<Date>('a Date since 1970', (value) => value instanceof Date && value.getTime() >= 0)),
  externalId: optional(
    described(
      refine(EXTERNAL_ID, (id) => (isLongerThan(id, MAX_EXTERNAL_MESSAGE_ID_LENGTH) ? '' : undefined)),
      `a nonblank string, at most ${MAX_EXTERNAL_MESSAGE_ID_LENGTH} characters long`,
    ),
  ),
  channel: optional(CHANNEL),
  topic: optional(TEXT),
  to: optional(PEOPLE),
  data: optional(HOST_DATA),
});

/** Filter for messages; all conditions must match. */
export interface MessageSelection {
  readonly channel?: string | number;
  readonly topic?: string;
  /** Direct conversation with exactly these users. */
  readonly with?: PersonRef | readonly PersonRef[];
  /** Search terms as typed into a search box. */
  readonly search?: string;
  /** Values of the messages' data; the keys must be declared by `realms.declareData`. */
  readonly where?: DataSelection;
  /** True for only messages that the user has not read. */
  readonly unread?: boolean;
  /** Maximum number of messages, starting with the newest. */
  readonly last?: number;
  /** Maximum number of messages, starting with the oldest. */
  readonly first?: number;
  /** Limits the result to higher or lower ids. */
  readonly after?: number;
  readonly before?: number;
}

const SELECTION = object({
  channel: optional(CHANNEL),
  topic: optional(TEXT),
  with: optional(PEOPLE),
  search: optional(TEXT),
  where: optional(WHERE),
  unread: optional(FLAG),
  last: optional(CHECKED_BY_USE),
  first: optional(CHECKED_BY_USE),
  after: optional(integer()),
  before: optional(integer()),
});

/** Messages read page by page during iteration, oldest first. */
export interface MessageStream extends AsyncIterable<OwnChatMessage> {
  toArray(): Promise<readonly OwnChatMessage[]>;
}

export interface MessageChange {
  readonly content?: string;
  /** Moves only this message. */
  readonly topic?: string;
  readonly channel?: string | number;
}

const CHANGE = object({ content: optional(TEXT), topic: optional(TEXT), channel: optional(CHANNEL) });

/** Messages with one user's permissions. Methods reject with a `DomainError`, like the API. */
export interface ChatMessages {
  /** `isRepeated`: true if an equal call with the external id sent the message. @throws DomainError EXTERNAL_ID_TAKEN */
  send(message: MessageToSend): Promise<{ readonly id: number; readonly isRepeated: boolean }>;
  /** Returns all messages without `last` or `first`. */
  list(selection?: MessageSelection): MessageStream;
  get(id: number): Promise<OwnChatMessage>;
  edit(id: number, change: MessageChange): Promise<void>;
  delete(id: number): Promise<void>;
  /** Replaces the data of the user's own message, or of any message for administrators; `{}` removes it. */
  setData(id: number, data: JsonObject, options?: SetDataOptions): Promise<ChatData>;
  markRead(ids: readonly number[]): Promise<void>;
  markUnread(ids: readonly number[]): Promise<void>;
  /** `emoji` is a name, such as `thumbs_up`. */
  react(id: number, emoji: string): Promise<void>;
  unreact(id: number, emoji: string): Promise<void>;
}

export interface MessagesParts {
  readonly resolve: Resolve;
  readonly addresses: Addresses;
  /** String id of the organization. */
  readonly realm: string;
  readonly caller: () => Promise<Caller>;
  readonly channelId: (caller: Caller, channel: string | number) => ChannelId | Promise<ChannelId>;
}

const PAGE = 500;
/** Maximum of `last`, which is read as one page. */
const MAX_LAST = 5000;

export function chatMessages(parts: MessagesParts): ChatMessages {
  const { resolve, caller, channelId } = parts;
  const changeFlag = async (op: 'add' | 'remove', ids: readonly number[]) => {
    argument('ids', IDS, ids);
    await resolve(ChangeMessageFlags).execute(await caller(), { ids: ids as readonly MessageId[], op, flag: 'read' });
  };
  return {
    async send(message) {
      const who = await caller();
      return sendReopening(parts, who, message.channel, await inputOf(parts.addresses, who, message));
    },
    list: (selection = {}) => ({
      async *[Symbol.asyncIterator]() {
        for await (const page of pagesOf(parts, selection)) for (const message of page) yield message;
      },
      async toArray() {
        if (selection.last !== undefined) return lastOf(parts, selection, selection.last);
        const all: OwnChatMessage[] = [];
        for await (const page of pagesOf(parts, selection)) for (const message of page) all.push(message);
        return all;
      },
    }),
    async get(id) {
      argument('id', ID, id);
      const who = await caller();
      const { view, flags, isSenderVisible } = await resolve(GetMessage).execute(who, { id: id as MessageId });
      const hidden = new Set(isSenderVisible ? [] : [view.sender.id]);
      const [message] = await present(parts, who.realmId, {
        views: [view],
        flags: new Map([[view.message.id, flags]]),
        hidden,
      });
      return message!;
    },
    async edit(id, change) {
      argument('id', ID, id);
      const { content, topic, channel } = properties('The change', CHANGE, change);
      const who = await caller();
      await resolve(UpdateMessage).execute(who, {
        messageId: id as MessageId,
        content: content ?? null,
        topic: topic ?? null,
        channelId: channel === undefined ? null : await channelId(who, channel),
        propagation: 'one',
        notifiesOldThread: false,
        notifiesNewThread: topic !== undefined || channel !== undefined,
        previousDigest: null,
      });
    },
    delete: async (id) =>
      resolve(DeleteMessage).execute(await caller(), { messageId: argument('id', ID, id) as MessageId }),
    async setData(id, data, options) {
      const owner = { kind: 'message', id: argument('id', ID, id) as MessageId, caller: await caller() } as const;
      return setData(resolve, owner, data, options);
    },
    markRead: (ids) => changeFlag('add', ids),
    markUnread: (ids) => changeFlag('remove', ids),
    react: async (id, emoji) => resolve(AddReaction).execute(await caller(), reactionOf(id, emoji)),
    unreact: async (id, emoji) => resolve(RemoveReaction).execute(await caller(), reactionOf(id, emoji)),
  };
}

const reactionOf = (id: number, emoji: string) => ({
  messageId: argument('id', ID, id) as MessageId,
  name: argument('emoji', TEXT, emoji),
  code: null,
  type: null,
});

async function* pagesOf(parts: MessagesParts, selection: MessageSelection): AsyncGenerator<readonly OwnChatMessage[]> {
  const { last, first, after } = selection;
  if (last !== undefined) {
    yield await lastOf(parts, selection, last);
    return;
  }
  checkCount(first, Number.POSITIVE_INFINITY);
  const who = await parts.caller();
  const narrow = await narrowOf(parts, who, selection);
  const isWanted = between(selection);
  let left = first ?? Number.POSITIVE_INFINITY;
  let anchor: Anchor = after === undefined ? { kind: 'oldest' } : { kind: 'id', id: after };
  while (left > 0) {
    const size = Math.min(PAGE, left);
    const page = await pageOf(parts, who, narrow, { anchor, before: 0, after: size, includeAnchor: false });
    const wanted = page.filter(isWanted);
    yield wanted;
    if (wanted.length < size) return;
    left -= page.length;
    anchor = { kind: 'id', id: page.at(-1)!.id };
  }
}

/** Reads the newest messages in one page. */
async function lastOf(
  parts: MessagesParts,
  selection: MessageSelection,
  last: number,
): Promise<readonly OwnChatMessage[]> {
  const { first, after, before } = selection;
  if (first !== undefined) throw invalidRange('Request either the first or the last messages.');
  checkCount(last, MAX_LAST);
  const who = await parts.caller();
  const narrow = await narrowOf(parts, who, selection);
  if (last === 0) return [];
  const anchor: Anchor = before === undefined ? { kind: 'newest' } : { kind: 'id', id: before };
  const page = await pageOf(parts, who, narrow, { anchor, before: last, after: 0, includeAnchor: false });
  return after === undefined && before === undefined ? page : page.filter(between(selection));
}

/** @throws DomainError INVALID_MESSAGE_RANGE */
function checkCount(count: number | undefined, most: number): void {
  if (count === undefined || (Number.isInteger(count) && count >= 0 && count <= most)) return;
  throw invalidRange(`The number of messages must be an integer; for the last messages at most ${MAX_LAST}.`);
}

const between =
  ({ after = 0, before = Number.POSITIVE_INFINITY }: MessageSelection) =>
  ({ id }: OwnChatMessage): boolean =>
    id > after && id < before;

async function pageOf(
  parts: MessagesParts,
  who: Caller,
  narrow: readonly NarrowTerm[],
  select: PageRange,
): Promise<readonly OwnChatMessage[]> {
  const { views, flags, hidden } = await parts
    .resolve(GetMessages)
    .execute(who, { narrow, select }, async (list, hydrate) => ({
      views: await hydrate(list.entries.map(({ id }) => id)),
      flags: new Map(list.entries.map((entry) => [entry.id, entry.flags])),
      hidden: list.hiddenUserIds,
    }));
  return present(parts, who.realmId, { views, flags, hidden });
}

async function present(
  { addresses, realm }: MessagesParts,
  realmId: RealmId,
  {
    views,
    flags,
    hidden,
  }: {
    readonly views: readonly MessageView[];
    readonly flags: ReadonlyMap<MessageId, PersonalFlags>;
    readonly hidden: ReadonlySet<UserId>;
  },
): Promise<readonly OwnChatMessage[]> {
  const person = peopleBy(await addresses.externalIdsOf(realmId, peopleIn(views)), hidden);
  return views.map((view) => presentOwnMessage(view, realm, person, getOrThrow(flags, view.message.id)));
}

/** Converts a message to the use case's input. @throws DomainError INVALID_ARGUMENT, UNKNOWN_USER */
export async function inputOf(
  addresses: Addresses,
  { realmId }: Caller,
  message: MessageToSend,
): Promise<SendMessageInput> {
  const { content, isReadBySender = true, channel, topic, to, ...own } = properties('The message', MESSAGE, message);
  const data = parsedData(own.data);
  const input = { content, isReadBySender, echo: null, ...historyOf(own), ...(data && { data }) };
  if (to === undefined) {
    const named = argument('channel, without to,', CHANNEL, channel);
    const addressee: Addressee =
      typeof named === 'string' ? { kind: 'channelName', name: named } : { kind: 'channelId', id: named as ChannelId };
    return { ...input, to: addressee, topic: topic ?? '' };
  }
  for (const [name, value] of Object.entries({ channel, topic })) {
    if (value !== undefined) {
      throw invalidArgument(`${name} must be absent if to is given, not ${shown(value)}.`);
    }
  }
  return { ...input, to: { kind: 'userIds', ids: await addresses.userIds(realmId, 'to', listOf(to)) }, topic: null };
}

const historyOf = ({ sentAt, externalId }: Pick<MessageToSend, 'sentAt' | 'externalId'>) => ({
  ...(sentAt !== undefined && { sentAt: Math.floor(sentAt.getTime() / 1000) as UnixSeconds }),
  ...(externalId !== undefined && { externalId }),
});

export async function narrowOf(
  { addresses, channelId }: MessagesParts,
  who: Caller,
  selection: MessageSelection,
): Promise<readonly NarrowTerm[]> {
  const { channel, topic, with: people, search, where, unread } = properties('The selection', SELECTION, selection);
  const terms: NarrowTerm[] = [];
  const add = (operator: string, operand: NarrowTerm['operand']) => terms.push({ operator, operand, negated: false });
  if (channel !== undefined) add('channel', await channelId(who, channel));
  if (topic !== undefined) add('topic', topic);
  if (people !== undefined) add('dm', await addresses.userIds(who.realmId, 'with', listOf(people)));
  if (search !== undefined) add('search', search);
  for (const filter of filtersOf(where ?? {})) add('data', filter);
  if (unread) add('is', 'unread');
  return terms;
}

export const listOf = <T extends PersonRef>(people: T | readonly T[]): readonly T[] =>
  Array.isArray(people) ? (people as readonly T[]) : [people as T];

const invalidRange = (message: string) => new DomainError('INVALID_MESSAGE_RANGE', message);
