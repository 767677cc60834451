import type { MessageRow } from '@parley/chat';

/** Commands on messages that belong to the page. */
export interface MessageCommands {
  /** Quotes a message in the composer. */
  readonly quote: (message: MessageRow) => void;
  /** Takes a message that failed back into the composer. */
  readonly editFailed: (message: MessageRow) => void;
  /** Marks a message and those after it as unread. */
  readonly markUnread: (message: MessageRow) => void;
}
