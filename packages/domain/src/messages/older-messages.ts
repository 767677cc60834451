import { DomainError } from '../kernel/errors.js';
import type { MessageId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from './message.js';
import type { MessageIdRange } from './message-condition.js';

/** Maximum number of ranges of older messages in an organization, because searches by time query each of them. */
export const MAX_OLDER_RANGES = 100;

/**
 * Keeps searches by time correct after a message was sent that is older than earlier ones (ADR 72). Messages that
 * follow each other in order of time share a range.
 * @throws DomainError HISTORY_OUT_OF_ORDER
 */
export async function noteOlderMessage(tx: Transaction, { realmId, id, sentAt }: Message): Promise<void> {
  const ranges = await tx.copies.listRanges(realmId);
  const last = ranges.at(-1);
  const [previous] = last ? await tx.messages.list(realmId, [last.last]) : [];
  await tx.copies.noteRange(realmId, rangeWith({ id, sentAt }, ranges, previous ?? null));
}

type Sent = Pick<Message, 'id' | 'sentAt'>;

/**
 * Returns the range with a new message: the last range if the message follows its end, otherwise a new one.
 * @param previous message at the end of the last range; null if it was deleted
 * @throws DomainError HISTORY_OUT_OF_ORDER
 */
export function rangeWith(added: Sent, ranges: readonly MessageIdRange[], previous: Sent | null): MessageIdRange {
  const last = ranges.at(-1);
  if (last && previous && last.last === added.id - 1 && previous.sentAt <= added.sentAt) {
    return { first: last.first, last: added.id };
  }
  if (ranges.length < MAX_OLDER_RANGES) return { first: added.id as MessageId, last: added.id };
  throw new DomainError(
    'HISTORY_OUT_OF_ORDER',
    `The organization has ${MAX_OLDER_RANGES} runs of older messages. Import more of them together by parley.imports.write.`,
  );
}
