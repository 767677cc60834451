import type { MessageId, UserId } from '@parley/domain/kernel';
import type { Submessage } from '@parley/domain/messages';

export interface SubmessageRow {
  readonly id: number;
  readonly message_id: MessageId;
  readonly sender_id: UserId;
  readonly kind: Submessage['kind'];
  readonly content: string;
}

export function toSubmessage(row: SubmessageRow): Submessage {
  return { id: row.id, messageId: row.message_id, senderId: row.sender_id, kind: row.kind, content: row.content };
}
