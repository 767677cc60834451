import type { MessageRow } from '@parley/chat';

/** Commands on messages that belong to the page. */
export interface MessageCommands {
  /** Quotes a message in the composer; null without one. */
  readonly quote: ((message: MessageRow) => void) | null;
  /** Takes a message that failed back into the composer; null without one. */
  readonly editFailed: ((message: MessageRow) => void) | null;
  /** Marks a message and those after it as unread. */
  readonly markUnread: (message: MessageRow) => void;
}
