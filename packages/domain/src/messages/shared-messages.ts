import { contextFull, liveContextsOf, MAX_READ_IDS, unknownReadContext } from '../channels/read-contexts.js';
import { type SharedView, sharedViewOf } from '../channels/shared-view.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, MessageId, TokenConversation, UnixSeconds, UserId } from '../kernel/ids.js';
import { conversationAt, directPlace } from '../kernel/token-scope.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { unknownMessage } from './load-access.js';
import type { MessageCondition } from './message-condition.js';
import { findNarrowOperator, invalidNarrow, isOperator, type NarrowTerm } from './narrow-operators.js';

/** Operators of narrows within a shared view, by their first name. */
const SHARED_OPERATORS: ReadonlySet<string | undefined> = new Set([
  ...['channel', 'channels', 'topic', 'sender', 'mentions', 'is', 'has', 'id', 'near', 'search'],
  ...['before', 'after', 'during'],
]);

/** Condition for all messages of a shared view. */
export const sharedMessages = ({ channels, recipientId }: SharedView): MessageCondition => ({
  kind: 'recipient',
  recipientIds: [
    ...[...channels.values()].map((channel) => channel.recipientId),
    ...(recipientId ? [recipientId] : []),
  ],
});

/**
 * Returns the rest of a narrow and the condition that limits it to a shared view. Channels and people that a reader
 * cannot see are reported as unknown ones.
 * @throws DomainError INVALID_NARROW
 */
export function sharedNarrow(
  view: SharedView,
  { scope, userId }: Caller,
  narrow: readonly NarrowTerm[],
): { readonly terms: readonly NarrowTerm[]; readonly condition: MessageCondition } {
  const terms = narrow.filter((term) => !isDestination(term, scope!.conversations, userId));
  for (const term of terms) {
    const { operator, operand } = term;
    const row = findNarrowOperator(operator);
    const isPerson = isOperator(term, 'sender') || isOperator(term, 'mentions');
    const isById = typeof operand === 'number';
    if (isOperator(term, 'channel') && !(isById && view.channels.has(operand as ChannelId))) {
      throw invalidNarrow(`unknown channel ${operand}`);
    }
    if (isPerson && (!isById || view.isLimited)) throw invalidNarrow(`unknown user ${operand}`);
    if (!SHARED_OPERATORS.has(row?.names[0]) || row?.isForSpectators?.(operand) === false) {
      throw invalidNarrow(`operator ${operator} with this token`);
    }
  }
  const isWhole = terms.length === narrow.length;
  const condition = isWhole ? sharedMessages(view) : sharedMessages({ ...view, channels: new Map() });
  return { terms, condition };
}

/** True for the direct conversation of the token. */
function isDestination(term: NarrowTerm, [place]: readonly TokenConversation[], userId: UserId): boolean {
  if (term.negated || !isOperator(term, 'dm') || !Array.isArray(term.operand) || !place) return false;
  return conversationAt({ conversations: [place] }, directPlace(userId, term.operand as UserId[])) !== undefined;
}

/**
 * Requires that every reader of the destination can read all that was read in the caller's context, and the message that
 * is edited. Returns the part of the shared view that the context has; null for callers without such a token.
 * @throws DomainError UNKNOWN_MESSAGE, UNKNOWN_READ_CONTEXT, READ_CONTEXT_FULL, TOO_MANY_READERS, AUDIENCE_GREW
 */
export async function requireSameReaders(
  tx: Transaction,
  caller: Caller,
  now: UnixSeconds,
  edited: MessageId | null = null,
): Promise<SharedView | null> {
  if (caller.scope?.readers !== 'all') return null;
  const { realmId, userId, scope } = caller;
  const contexts = liveContextsOf(caller, await tx.readContexts.list(realmId, userId), now);
  const context = contexts.find(({ name }) => name === scope.context);
  if (!context) throw unknownReadContext();
  const { messageIds, channelIds } = context;
  if (messageIds.length > MAX_READ_IDS || channelIds.length > MAX_READ_IDS) throw contextFull();
  const ids = edited === null ? messageIds : [...messageIds, edited];
  const messages = await tx.messages.list(realmId, ids);
  const needed = new Set([...channelIds, ...messages.flatMap(({ channelId }) => channelId ?? [])]);
  const view = (await sharedViewOf(tx, caller, needed))!;
  const list = (some: readonly MessageId[]) =>
    tx.pages.listEntries({ realmId, userId: view.viewer.id }, some, [sharedMessages(view)]);
  if (edited !== null && (await list([edited])).length === 0) throw unknownMessage();
  const readable = await list(messageIds);
  if (readable.length < messageIds.length || channelIds.some((id) => !view.channels.has(id))) {
    throw new DomainError('AUDIENCE_GREW', 'Not every reader of the conversation can read what this message is about.');
  }
  return view;
}
