import { counted } from '../kernel/counted.js';
import type { Terminal } from './command.js';

const MESSAGES_BETWEEN_LINES = 100_000;

/** Reports progress periodically on a separate stream, since programs may parse the result. */
export function progressOn(terminal: Terminal, what: string): (messages: number) => void {
  let said = 0;
  return (messages) => {
    if (messages - said < MESSAGES_BETWEEN_LINES) return;
    said = messages;
    terminal.err(`${what} ${counted(messages, 'message')} …`);
  };
}
