import type { Dialect } from '../engine/statements.js';

/** Message in a statement, as SQL expressions. */
interface HeldFacts {
  readonly id: string;
  readonly realmId: string;
  readonly senderId: string;
  readonly sentAt: string;
  readonly channelId: string;
  readonly recipientId: string;
  /** Table `e` of the message's edits with its condition, and the former channel of an edit. */
  readonly edits: string;
  readonly formerChannelId: string;
}

/** Condition of `covers` in the domain for a hold `h`. */
const coveredBy = (facts: HeldFacts): string => `h.realm_id = ${facts.realmId}
  AND (h.message_id IS NULL OR h.message_id = ${facts.id})
  AND (h.since IS NULL OR h.since <= ${facts.sentAt}) AND (h.until IS NULL OR h.until >= ${facts.sentAt})
  AND (h.person_id IS NULL OR h.person_id = ${facts.senderId} OR EXISTS (
    SELECT 1 FROM direct_participant p WHERE p.recipient_id = ${facts.recipientId} AND p.user_id = h.person_id))
  AND (h.channel_id IS NULL OR h.channel_id = ${facts.channelId} OR EXISTS (
    SELECT 1 FROM ${facts.edits} AND ${facts.formerChannelId} = h.channel_id))`;

/** @param m name of the table `message` in the statement */
const factsOfMessage = (m: string): HeldFacts => ({
  id: `${m}.id`,
  realmId: `${m}.realm_id`,
  senderId: `${m}.sender_id`,
  sentAt: `${m}.sent_at`,
  channelId: `${m}.channel_id`,
  recipientId: `${m}.recipient_id`,
  edits: `message_edit e WHERE e.message_id = ${m}.id`,
  formerChannelId: 'e.previous_channel_id',
});

const numberIn = (row: string, member: string): string => `CAST(${row}.value ->> '${member}' AS bigint)`;

/** The row `c` of the deleted message comes from `rowOfCopy`. */
const factsOfCopy = ({ elementsOf }: Dialect, a: string): HeldFacts => ({
  id: `${a}.id`,
  realmId: `${a}.realm_id`,
  senderId: numberIn('c', 'sender_id'),
  sentAt: numberIn('c', 'sent_at'),
  channelId: numberIn('c', 'channel_id'),
  recipientId: numberIn('c', 'recipient_id'),
  edits: `${elementsOf(`${a}.rows`, 'message_edit')} e WHERE true`,
  formerChannelId: numberIn('e', 'previous_channel_id'),
});

const rowOfCopy = ({ elementsOf }: Dialect, a: string): string => `${elementsOf(`${a}.rows`, 'message')} c`;

/** Condition that hold `h` covers the message, whether in force or not. */
export const messageCovered = (m: string): string => coveredBy(factsOfMessage(m));

/** Condition that hold `h` covers the copy. @param a name of the table `archived_message` */
export const copyCovered = (dialect: Dialect, a: string): string =>
  `EXISTS (SELECT 1 FROM ${rowOfCopy(dialect, a)} WHERE ${coveredBy(factsOfCopy(dialect, a))})`;

const IN_FORCE = 'h.released_at IS NULL';

/** Condition that a hold in force covers the message. */
export const messageHeld = (m: string): string =>
  `EXISTS (SELECT 1 FROM hold h WHERE ${IN_FORCE} AND ${messageCovered(m)})`;

/** Hold in force that covers the copy, or null. */
export const holdOfCopy = (dialect: Dialect, a: string): string =>
  `(SELECT min(h.id) FROM hold h WHERE ${IN_FORCE} AND h.realm_id = ${a}.realm_id AND ${copyCovered(dialect, a)})`;

/** Condition that no hold in force covers the message of an edit. */
export const EDIT_NOT_HELD = `NOT EXISTS (
  SELECT 1 FROM message held WHERE held.id = message_edit.message_id AND ${messageHeld('held')})`;
