import { ChangeNarrowFlags, GetUnread, MarkRead, type NarrowTerm } from '@parley/domain/messages';
import { type MessagesParts, narrowOf } from './chat-messages.js';
import { type ChatPerson, peopleBy, peopleIn, presentMessage } from './presented.js';
import type { PersonRef } from './references.js';

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
