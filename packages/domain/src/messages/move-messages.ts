import type { Actor } from '../access/actor.js';
import { type Channel, hasSharedHistory } from '../channels/channel.js';
import { hasFullHistoryAccess } from '../channels/channel-access.js';
import { topicKey } from '../channels/topic.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId, UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { Message } from './message.js';
import type { MovePropagation } from './message-events.js';
import type { MessageFilter } from './message-page-reads.js';
import { receivedMessagesIn } from './narrow.js';

/** What one request moves at most. */
export const MAX_MOVED = 50_000;
/** What is looked up, or moved, without letting the event loop turn. */
const PAGE = 500;
const SLICE = 100;

/** The messages of a topic that somebody can see. */
export function visibleInTopic(actor: Actor, channel: Channel, isSubscribed: boolean, topic: string): MessageFilter {
  const scope = hasFullHistoryAccess(actor, channel, isSubscribed) ? 'shared' : 'own';
  return { ...receivedMessagesIn(channel.recipientId, topicKey(topic)), scope };
}

/** All messages of a topic, whoever can see them. */
export const allInTopic = (channel: Channel, topic: string): MessageFilter => ({
  ...receivedMessagesIn(channel.recipientId, topicKey(topic)),
  scope: 'shared',
});

/** Ascending. @throws DomainError TOO_MANY_MESSAGES_TO_MOVE */
export async function selectMoved(
  tx: Transaction,
  actor: Actor,
  { id }: Pick<Message, 'id'>,
  filter: MessageFilter,
  propagation: MovePropagation,
): Promise<readonly MessageId[]> {
  if (propagation === 'one') return [id];
  const viewer = { realmId: actor.realmId, userId: actor.id };
  const ids: MessageId[] = [];
  for (let from: number = propagation === 'all' ? 0 : id; ; ) {
    const page = await tx.pages.listEntriesFrom(viewer, filter, from, PAGE);
    for (const entry of page) ids.push(entry.id);
    if (ids.length > MAX_MOVED) {
      throw new DomainError('TOO_MANY_MESSAGES_TO_MOVE', `Too many messages to move (limit: ${MAX_MOVED}).`);
    }
    if (page.length < PAGE) return ids;
    from = ids.at(-1)! + 1;
    await tx.yield();
  }
}

export interface MessageMove {
  readonly actor: Actor;
  readonly ids: readonly MessageId[];
  /** Where they are put. */
  readonly channel: Channel;
  /** Null: each keeps its own. */
  readonly topic: { readonly name: string; readonly links: readonly TopicLink[] } | null;
  readonly changesChannel: boolean;
  /** Whether the topic is only marked, which does not count as a move to those who look. */
  readonly isToggle: boolean;
  readonly movedAt: UnixSeconds;
  /** The one among them whose text changes with it. */
  readonly edited: MessageId | null;
}

/** Stores where messages are from now on, and where they were. Statements grow with slices of messages, not with messages. */
export async function moveMessages(tx: Transaction, move: MessageMove): Promise<void> {
  const { actor, ids, channel, topic, changesChannel, isToggle, movedAt, edited } = move;
  const edit = {
    userId: actor.id,
    editedAt: movedAt,
    topic: topic?.name ?? null,
    channelId: changesChannel ? channel.id : null,
  };
  const target = {
    channelId: channel.id,
    recipientId: channel.recipientId,
    topic: topic?.name ?? null,
    topicLinks: topic?.links ?? [],
    isHistoryProtected: !hasSharedHistory(channel),
    ...(!isToggle && { movedAt }),
  };
  for (let start = 0; start < ids.length; start += SLICE) {
    const slice = ids.slice(start, start + SLICE);
    await tx.edits.add(actor.realmId, edit, slice, edited);
    await tx.moves.move(actor.realmId, slice, target);
    await tx.yield();
  }
}
