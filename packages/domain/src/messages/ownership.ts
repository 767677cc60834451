import type { Ordinal, RecipientId } from '../kernel/ids.js';

/** A time in which somebody received what was sent to a recipient. Upper bounds are exclusive, null while it lasts. */
export interface Span {
  readonly recipientId: RecipientId;
  readonly fromOrdinal: Ordinal;
  readonly toOrdinal: Ordinal | null;
  /** Among the numbers of `ChannelMove`. */
  readonly fromMove: number;
  readonly toMove: number | null;
}

/** A message was moved to another channel. */
export interface ChannelMove {
  /** Later moves have higher numbers. */
  readonly number: number;
  readonly targetRecipientId: RecipientId;
  /** Whether the target's newcomers cannot read what was sent before they came. */
  readonly isHistoryProtected: boolean;
}

/**
 * How a message is somebody's own, as far as spans and moves say. `received`: sent to them, with the read state of their
 * read set. `gained`: a move brought it to them, read.
 */
export type Ownership = 'received' | 'gained' | 'none';

/**
 * Whoever subscribes to the channel that a message is moved to keeps it, and where that channel's history is protected, gets it
 * if they do not have it; everybody else loses it. `spans` are all of one user's, of the recipient the message was sent to
 * and of the moves' targets at least; `moves` are in order.
 */
export function ownershipOf(
  spans: readonly Span[],
  sent: { readonly recipientId: RecipientId; readonly ordinal: Ordinal },
  moves: readonly ChannelMove[],
): Ownership {
  let ownership: Ownership = wasReceived(spans, sent.recipientId, sent.ordinal) ? 'received' : 'none';
  for (const move of moves) {
    if (!wasSubscribedAt(spans, move.targetRecipientId, move.number)) ownership = 'none';
    else if (ownership === 'none' && move.isHistoryProtected) ownership = 'gained';
  }
  return ownership;
}

export function wasReceived(spans: readonly Span[], recipientId: RecipientId, ordinal: Ordinal): boolean {
  return spans.some(
    (span) =>
      span.recipientId === recipientId &&
      span.fromOrdinal <= ordinal &&
      (span.toOrdinal === null || ordinal < span.toOrdinal),
  );
}

function wasSubscribedAt(spans: readonly Span[], recipientId: RecipientId, move: number): boolean {
  return spans.some(
    (span) => span.recipientId === recipientId && span.fromMove <= move && (span.toMove === null || move < span.toMove),
  );
}
