import { utf8Length } from './text.js';

/** Of all texts of one kind that a user keeps, such as drafts, in bytes: they are sent together when a client registers. */
export const MAX_KEPT_TEXT_BYTES = 2_000_000;

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + utf8Length(text), 0);

/** Whether there would be too much, and more than now. `present`: in bytes; `removed`: the texts of it that the others replace. */
export function keepsTooMuchText(present: number, added: readonly string[], removed: readonly string[] = []): boolean {
  const growth = bytesOf(added) - bytesOf(removed);
  return growth > 0 && present + growth > MAX_KEPT_TEXT_BYTES;
}
