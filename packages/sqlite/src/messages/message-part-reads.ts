import type { MessageId } from '@parley/domain/kernel';
import type { Message, MessageParts } from '@parley/domain/messages';

/** Reads what a feature shows with messages. */
export interface MessagePartReads {
  /** Messages with nothing of it are absent. At most one statement, and none where no message has any of it. */
  list(messages: readonly Message[]): ReadonlyMap<MessageId, MessageParts>;
}
