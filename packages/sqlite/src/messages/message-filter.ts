import type { MessageCondition, MessageFilter, MessageId, RecipientId, UserId } from '@parley/domain';
import type { Parameter } from '../connection.js';

/** A filter sorted by what a query can use: at most one of each that must hold, and lists of what must not. */
export interface Narrowing {
  readonly recipientId: RecipientId | null;
  readonly topicKey: string | null;
  readonly senderId: UserId | null;
  readonly messageId: MessageId | null;
  readonly not: {
    readonly recipientIds: readonly RecipientId[];
    readonly topicKeys: readonly string[];
    readonly senderIds: readonly UserId[];
    readonly messageIds: readonly MessageId[];
  };
}

export const EVERYTHING: Narrowing = {
  recipientId: null,
  topicKey: null,
  senderId: null,
  messageId: null,
  not: { recipientIds: [], topicKeys: [], senderIds: [], messageIds: [] },
};

/** Part of a WHERE clause over `message m`, each term begun with AND. The text is one of a few dozen. */
export interface Restriction {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** Null when no message can pass. */
export function toNarrowing({ conditions, withoutRecipients }: MessageFilter): Narrowing | null {
  const recipients = choose(conditions, (each) => (each.kind === 'recipient' ? each.recipientId : null));
  const topics = choose(conditions, (each) => (each.kind === 'topic' ? each.topicKey : null));
  const senders = choose(conditions, (each) => (each.kind === 'sender' ? each.userId : null));
  const messages = choose(conditions, (each) => (each.kind === 'message' ? each.messageId : null));
  if (!recipients || !topics || !senders || !messages) return null;
  if (conditions.some(({ kind, negated }) => kind === 'nothing' && !negated)) return null;
  return {
    recipientId: recipients.wanted,
    topicKey: topics.wanted,
    senderId: senders.wanted,
    messageId: messages.wanted,
    not: {
      recipientIds: [...recipients.unwanted, ...withoutRecipients],
      topicKeys: topics.unwanted,
      senderIds: senders.unwanted,
      messageIds: messages.unwanted,
    },
  };
}

/** Null when two different values are wanted at once. */
function choose<T>(
  conditions: readonly MessageCondition[],
  valueIn: (condition: MessageCondition) => T | null,
): { readonly wanted: T | null; readonly unwanted: readonly T[] } | null {
  let wanted: T | null = null;
  const unwanted: T[] = [];
  for (const condition of conditions) {
    const value = valueIn(condition);
    if (value === null) continue;
    if (condition.negated) unwanted.push(value);
    else if (wanted !== null && wanted !== value) return null;
    else wanted = value;
  }
  return { wanted, unwanted };
}

export function restriction({ recipientId, topicKey, senderId, messageId, not }: Narrowing): Restriction {
  const terms: string[] = [];
  const parameters: Parameter[] = [];
  const equal = (column: string, value: Parameter) => {
    if (value === null) return;
    terms.push(`AND ${column} = ?`);
    parameters.push(value);
  };
  const outside = (term: string, values: readonly (number | string)[]) => {
    if (values.length === 0) return;
    terms.push(`AND ${term}`);
    parameters.push(JSON.stringify(values));
  };
  equal('m.recipient_id', recipientId);
  equal('m.topic_key', topicKey);
  equal('m.sender_id', senderId);
  equal('m.id', messageId);
  outside('m.recipient_id NOT IN (SELECT value FROM json_each(?))', not.recipientIds);
  outside('(m.topic_key IS NULL OR m.topic_key NOT IN (SELECT value FROM json_each(?)))', not.topicKeys);
  outside('m.sender_id NOT IN (SELECT value FROM json_each(?))', not.senderIds);
  outside('m.id NOT IN (SELECT value FROM json_each(?))', not.messageIds);
  return { sql: terms.join(' '), parameters };
}

/** Whether it leaves out nothing of a conversation or a topic. */
export const isWhole = ({ senderId, messageId, not }: Narrowing): boolean =>
  senderId === null && messageId === null && Object.values(not).every((unwanted) => unwanted.length === 0);

/** Which index of `message` finds the narrowest part of one recipient's messages, in order of id. */
export function indexFor({ topicKey, senderId }: Narrowing): string {
  if (topicKey !== null) return 'message_by_topic';
  return senderId !== null ? 'message_by_sender' : 'message_by_recipient';
}
