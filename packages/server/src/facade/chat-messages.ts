import type { FindHostUsers } from '@parley/domain/host-users';
import {
  type Addressee,
  type Anchor,
  ChangeMessageFlags,
  DeleteMessage,
  GetMessage,
  GetMessages,
  type MessageView,
  type NarrowTerm,
  type PersonalFlags,
  SendMessage,
  type SendMessageInput,
  UpdateMessage,
} from '@parley/domain/messages';
import { AddReaction, RemoveReaction } from '@parley/domain/reactions';
import { type Caller, type ChannelId, DomainError, type MessageId, type UserId } from '@parley/domain/shared';
import type { Resolve } from '../container.js';
import type { Addresses, PersonRef } from './addresses.js';
import { type OwnChatMessage, peopleIn, presentMessage, presentOwnMessage } from './presented.js';

/** A message to a channel, by name or id, or to people. */
export type MessageToSend = {
  /** Markdown. */
  readonly content: string;
  /** Whether the sender has read it, as people mostly have what they wrote; default: true. */
  readonly isReadBySender?: boolean;
} & (
  | {
      readonly channel: string | number;
      /** Default: none. */
      readonly topic?: string;
      readonly to?: never;
    }
  | {
      /** External ids, or Parley's own as numbers. */
      readonly to: PersonRef | readonly PersonRef[];
      readonly channel?: never;
      readonly topic?: never;
    }
);

/** Which messages: all of these hold together. */
export interface MessageSelection {
  readonly channel?: string | number;
  readonly topic?: string;
  /** The direct conversation with exactly these people. */
  readonly with?: PersonRef | readonly PersonRef[];
  /** Words of the message, as people type them into a search box. */
  readonly search?: string;
  /** Only those that the user has not read. */
  readonly unread?: boolean;
  /** The newest so many. */
  readonly last?: number;
  /** The oldest so many. */
  readonly first?: number;
  /** Only those with a higher id, or a lower one. */
  readonly after?: number;
  readonly before?: number;
}

/** Read page by page as it is gone through; oldest first. */
export interface MessageStream extends AsyncIterable<OwnChatMessage> {
  toArray(): Promise<readonly OwnChatMessage[]>;
}

export interface MessageChange {
  readonly content?: string;
  /** Of this message alone. */
  readonly topic?: string;
  readonly channel?: string | number;
}

/** Messages, as one user may see and change them. Everything refuses as the API does, with a `DomainError`. */
export interface ChatMessages {
  send(message: MessageToSend): Promise<{ readonly id: number }>;
  /** Without `last` or `first`: all there are. */
  list(selection?: MessageSelection): MessageStream;
  get(id: number): Promise<OwnChatMessage>;
  edit(id: number, change: MessageChange): Promise<void>;
  delete(id: number): Promise<void>;
  markRead(ids: readonly number[]): Promise<void>;
  markUnread(ids: readonly number[]): Promise<void>;
  /** `emoji`: its name, such as `thumbs_up`. */
  react(id: number, emoji: string): Promise<void>;
  unreact(id: number, emoji: string): Promise<void>;
}

export interface MessagesParts {
  readonly resolve: Resolve;
  readonly addresses: Addresses;
  readonly users: FindHostUsers;
  /** String id of the organization. */
  readonly realm: string;
  readonly caller: () => Promise<Caller>;
  readonly channelId: (channel: string | number) => Promise<ChannelId>;
}

const PAGE = 500;
/** Of one page: `last` is read at once. */
const MAX_LAST = 5000;

export function chatMessages(parts: MessagesParts): ChatMessages {
  const { resolve, realm, caller, channelId } = parts;
  const changeFlag = async (op: 'add' | 'remove', ids: readonly number[]) => {
    await resolve(ChangeMessageFlags).execute(await caller(), { ids: ids as readonly MessageId[], op, flag: 'read' });
  };
  return {
    async send(message) {
      const who = await caller();
      const { id } = await resolve(SendMessage).execute(who, await inputOf(parts.addresses, who, message));
      return { id };
    },
    list: (selection = {}) => {
      const stream = listMessages(parts, selection);
      return {
        [Symbol.asyncIterator]: () => stream,
        async toArray() {
          const all: OwnChatMessage[] = [];
          for await (const message of stream) all.push(message);
          return all;
        },
      };
    },
    async get(id) {
      const { view, flags, isSenderKnown } = await resolve(GetMessage).execute(await caller(), { id: id as MessageId });
      const hidden = new Set(isSenderKnown ? [] : [view.sender.id]);
      const [message] = await present(parts, [{ view, flags }], hidden);
      return message!;
    },
    async edit(id, { content, topic, channel }) {
      await resolve(UpdateMessage).execute(await caller(), {
        messageId: id as MessageId,
        content: content ?? null,
        topic: topic ?? null,
        channelId: channel === undefined ? null : await channelId(channel),
        propagation: 'one',
        notifiesOldThread: false,
        notifiesNewThread: topic !== undefined || channel !== undefined,
        previousDigest: null,
      });
    },
    delete: async (id) => resolve(DeleteMessage).execute(await caller(), { messageId: id as MessageId }),
    markRead: (ids) => changeFlag('add', ids),
    markUnread: (ids) => changeFlag('remove', ids),
    react: async (id, emoji) =>
      resolve(AddReaction).execute(await caller(), { messageId: id as MessageId, name: emoji, code: null, type: null }),
    unreact: async (id, emoji) =>
      resolve(RemoveReaction).execute(await caller(), {
        messageId: id as MessageId,
        name: emoji,
        code: null,
        type: null,
      }),
  };

  async function* listMessages(of: MessagesParts, selection: MessageSelection): AsyncGenerator<OwnChatMessage, void> {
    const { last, first, after, before } = selection;
    if (last !== undefined && first !== undefined) throw invalidRange('Either the first messages or the last ones.');
    for (const count of [last, first]) {
      if (count !== undefined && !(Number.isInteger(count) && count >= 0 && (count === first || count <= MAX_LAST))) {
        throw invalidRange(`The number of messages is a whole number; of the last ones at most ${MAX_LAST}.`);
      }
    }
    const who = await of.caller();
    const narrow = await narrowOf(of, who, selection);
    const isWanted = ({ id }: OwnChatMessage) => id > (after ?? 0) && id < (before ?? Number.POSITIVE_INFINITY);
    if (last !== undefined) {
      if (last === 0) return;
      const anchor: Anchor = before === undefined ? { kind: 'newest' } : { kind: 'id', id: before };
      yield* (await pageOf(of, who, narrow, anchor, { before: last })).filter(isWanted);
      return;
    }
    let left = first ?? Number.POSITIVE_INFINITY;
    let anchor: Anchor = after === undefined ? { kind: 'oldest' } : { kind: 'id', id: after };
    while (left > 0) {
      const size = Math.min(PAGE, left);
      const page = await pageOf(of, who, narrow, anchor, { after: size });
      for (const message of page) {
        if (!isWanted(message)) return;
        yield message;
      }
      if (page.length < size) return;
      left -= page.length;
      anchor = { kind: 'id', id: page.at(-1)!.id };
    }
  }

  async function pageOf(
    of: MessagesParts,
    who: Caller,
    narrow: readonly NarrowTerm[],
    anchor: Anchor,
    { before = 0, after = 0 }: { readonly before?: number; readonly after?: number },
  ): Promise<readonly OwnChatMessage[]> {
    const select = { anchor, before, after, includeAnchor: false };
    const { found, hidden } = await of.resolve(GetMessages).execute(who, { narrow, select }, async (list, hydrate) => {
      const flags = new Map(list.entries.map((entry) => [entry.id, entry.flags]));
      const views = await hydrate(list.entries.map(({ id }) => id));
      return {
        found: views.map((view) => ({ view, flags: flags.get(view.message.id)! })),
        hidden: list.hiddenUserIds,
      };
    });
    return present(of, found, hidden);
  }

  async function present(
    { users }: MessagesParts,
    found: readonly { readonly view: MessageView; readonly flags: PersonalFlags }[],
    hidden: ReadonlySet<UserId>,
  ): Promise<readonly OwnChatMessage[]> {
    const people = new Set(found.flatMap(({ view }) => peopleIn(view)));
    const { realmId } = await caller();
    const externalIds = people.size === 0 ? new Map() : await users.externalIdsOf(realmId, [...people]);
    return found.map(({ view, flags }) => presentOwnMessage(presentMessage(view, realm, externalIds, hidden), flags));
  }
}

/** What the use case takes. @throws DomainError UNKNOWN_USER */
export async function inputOf(
  addresses: Addresses,
  { realmId }: Caller,
  message: MessageToSend,
): Promise<SendMessageInput> {
  const { content, isReadBySender = true } = message;
  const to: Addressee =
    message.channel === undefined
      ? { kind: 'userIds', ids: await addresses.userIds(realmId, listOf(message.to!)) }
      : typeof message.channel === 'string'
        ? { kind: 'channelName', name: message.channel }
        : { kind: 'channelId', id: message.channel as ChannelId };
  const topic = message.channel === undefined ? null : (message.topic ?? '');
  return { to, topic, content, isReadBySender, echo: null };
}

async function narrowOf(
  { addresses, channelId }: MessagesParts,
  { realmId }: Caller,
  { channel, topic, with: people, search, unread }: MessageSelection,
): Promise<readonly NarrowTerm[]> {
  const term = (operator: string, operand: NarrowTerm['operand']): NarrowTerm => ({
    operator,
    operand,
    negated: false,
  });
  return [
    ...(channel === undefined ? [] : [term('channel', await channelId(channel))]),
    ...(topic === undefined ? [] : [term('topic', topic)]),
    ...(people === undefined ? [] : [term('dm', await addresses.userIds(realmId, listOf(people)))]),
    ...(search === undefined ? [] : [term('search', search)]),
    ...(unread ? [term('is', 'unread')] : []),
  ];
}

export const listOf = <T extends PersonRef>(people: T | readonly T[]): readonly T[] =>
  Array.isArray(people) ? (people as readonly T[]) : [people as T];

const invalidRange = (message: string) => new DomainError('INVALID_MESSAGE_RANGE', message);
