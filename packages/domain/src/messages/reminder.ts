import { DomainError } from '../kernel/errors.js';
import type { MessageId, RealmId, ReminderId, UnixSeconds, UserId } from '../kernel/ids.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from '../kernel/kept-text.js';
import { isLongerThan, trimEnd } from '../kernel/text.js';

/** What calls a message to its user's mind at a time. */
export interface Reminder {
  readonly id: ReminderId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly messageId: MessageId;
  /** Empty: none. */
  readonly note: string;
  /** What it will say, in Markdown and as HTML, if the message cannot be read any more by then. */
  readonly content: string;
  readonly renderedContent: string;
  readonly dueAt: UnixSeconds;
  /** Why it was not sent; null: it did not fail. */
  readonly failure: string | null;
}

export type NewReminder = Omit<Reminder, 'id' | 'failure'>;

/** Of one user. */
export const MAX_REMINDERS = 1000;
/** In code points (protocol §14). */
export const MAX_NOTE_LENGTH = 1000;

/** @throws DomainError TOO_MANY_REMINDERS */
export function requireRoomForReminder(count: number): void {
  if (count < MAX_REMINDERS) return;
  throw new DomainError('TOO_MANY_REMINDERS', `Too many reminders (limit: ${MAX_REMINDERS}).`);
}

/** See `keepsTooMuchText`. @throws DomainError TOO_MANY_REMINDERS */
export function requireRoomForReminderText(present: number, added: readonly string[]): void {
  if (!keepsTooMuchText(present, added)) return;
  throw new DomainError('TOO_MANY_REMINDERS', `Too much text in reminders (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`);
}

/** What is kept of what somebody noted (users §21). @throws DomainError REMINDER_NOTE_TOO_LONG */
export function parseNote(raw: string): string {
  const note = trimEnd(raw).replace(/^\n+/, '');
  if (!isLongerThan(note, MAX_NOTE_LENGTH)) return note;
  throw new DomainError('REMINDER_NOTE_TOO_LONG', `Maximum reminder note length: ${MAX_NOTE_LENGTH} characters`);
}

export interface ReminderReads {
  /** Null for those of other realms. */
  find(realmId: RealmId, id: ReminderId): Promise<Reminder | null>;
  /** The user's, in the order of their times, then of their ids. At most `limit`. */
  list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Reminder[]>;
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Of the texts of all of the user's in both forms, in UTF-8. */
  countBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

/** Every implementation passes reminder-repository.contract.ts. */
export interface ReminderRepository extends ReminderReads {
  add(reminder: NewReminder): Promise<Reminder>;
  /** Without effect where there is none. */
  fail(realmId: RealmId, id: ReminderId, failure: string): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, id: ReminderId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    reminders: [reads: ReminderReads, repository: ReminderRepository];
  }
}
