import type { EncodedRow } from '../kernel/event-log.js';
import type { MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Submessage } from '../messages/message.js';
import type { User } from '../users/user.js';
import { firstTextOf, SENT_REFERENCES, type SentReference } from '../writing/sent-reference.js';
import { eventWithoutIdentity, type FormerIdentity, mentionRemoval } from './erased-person.js';

/** Lengths of a message's first text before and after the change. */
interface Lengths {
  readonly before: number;
  readonly after: number;
}

const NO_TEXT: Lengths = { before: -1, after: -1 };

/** Removes mentions from the messages of these event rows. Returns the lengths of the changed texts. */
export async function replaceInSentMessages(
  tx: Transaction,
  realmId: RealmId,
  former: FormerIdentity,
  rows: readonly EncodedRow[],
): Promise<ReadonlyMap<MessageId, Lengths>> {
  const removal = mentionRemoval(former);
  const ids = rows.flatMap((row) => sentReferenceIn(row)?.messageId ?? []);
  const lengths = new Map<MessageId, Lengths>();
  const held = new Set(ids.length === 0 ? [] : await tx.heldMessages.filter(realmId, ids));
  for (const view of ids.length === 0 ? [] : await tx.pages.listViews(realmId, ids)) {
    if (held.has(view.message.id)) continue;
    const { content, rendered } = firstTextOf(view);
    const [after] = removal.replace([content, rendered]);
    lengths.set(view.message.id, { before: content.length, after: after!.length });
  }
  if (ids.length > 0) await tx.personalData.replaceInMessages(realmId, removal, ids);
  return lengths;
}

const sentReferenceIn = ({ payload }: EncodedRow): SentReference | null =>
  payload.startsWith(`{"type":"${SENT_REFERENCES.type}"`) ? (JSON.parse(payload) as SentReference) : null;

/** True for the event of a vote, or an entry in a poll or to-do list. */
export function isAnswerOf(payload: string | null, id: UserId): boolean {
  const event = payload === null ? null : objectIn(payload);
  return event?.type === 'message.submessage_added' && (event.submessage as Submessage).senderId === id;
}

/** Returns the new payload of an event; null if it becomes blank. */
export function replacedEvent(
  row: EncodedRow,
  former: FormerIdentity,
  now: User,
  lengths: ReadonlyMap<MessageId, Lengths>,
): string | null {
  const reference = sentReferenceIn(row);
  if (reference) {
    const { before, after } = lengths.get(reference.messageId) ?? NO_TEXT;
    return before === reference.contentLength ? JSON.stringify({ ...reference, contentLength: after }) : row.payload;
  }
  const [payload] = mentionRemoval(former).replace([row.payload]);
  const [event, audience] = [payload!, row.audience].map(objectIn);
  // A damaged row is unreadable.
  const replaced = event && audience ? eventWithoutIdentity(event, audience, former, now) : null;
  return replaced && JSON.stringify(replaced);
}

function objectIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
