import type { Actor } from '../access/actor.js';
import { type Channel, EMPTY_TOPIC_DISPLAY_NAME } from '../channels/channel.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId, RealmId, ReminderId, UnixSeconds, UserId } from '../kernel/ids.js';
import { isLongerThan, keepsTooMuchText, MAX_KEPT_TEXT_BYTES, trimEnd } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { loadReadable } from './load-access.js';
import { cutContent, loadSender, MAX_MESSAGE_LENGTH, type Message, participantIdsOf } from './message.js';
import { conversationUrl, messageUrl, topicUrl } from './narrow.js';

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

/** A message with all that a reminder says of it. */
export interface RemindedMessage {
  readonly message: Pick<Message, 'id' | 'topic' | 'content'>;
  readonly sender: Pick<User, 'id' | 'fullName'>;
  readonly place:
    | { readonly kind: 'channel'; readonly channel: Pick<Channel, 'id' | 'name'> }
    /** Everybody in the conversation, ascending. */
    | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages' | 'recipients' | 'users'>;

/** @throws DomainError UNKNOWN_MESSAGE when the actor cannot read it */
export async function loadReminded(
  reads: Reads,
  actor: Actor,
  realm: Realm,
  messageId: MessageId,
): Promise<RemindedMessage> {
  const { message, channel } = await loadReadable(reads, actor, messageId);
  const sender = await loadSender(reads, message);
  const isHidden = (await inaccessibleUserIds(reads, actor, realm, [sender.id])).has(sender.id);
  if (channel) return { message, sender: isHidden ? unknown(sender) : sender, place: { kind: 'channel', channel } };
  const userIds = (await participantIdsOf(reads, message)) ?? [];
  return { message, sender, place: { kind: 'direct', userIds } };
}

/** To a guest who may not know them, as with the message itself. */
const unknown = ({ id }: User) => ({ id, fullName: 'Unknown user' });

/** What a reminder says (users §21), in Markdown; no longer than a message may be. */
export function reminderText({ message, sender, place }: RemindedMessage, note: string, realmUrl: string): string {
  const subject = place.kind === 'channel' ? linkTo(place.channel, message) : 'the following direct message';
  const noted = note === '' ? '' : ` Note:\n > ${note.replaceAll('\n', '\n > ')}`;
  const placeUrl = place.kind === 'channel' ? topicUrl(place.channel, message.topic) : conversationUrl(place.userIds);
  const url = realmUrl + messageUrl(placeUrl, message.id);
  const beginning = `You requested a reminder for ${subject}.${noted}\n\n${silentMention(sender)}`;
  const { content } = message;
  if (content.startsWith('/poll')) return `${beginning} [sent](${url}) a poll.`;
  if (content.startsWith('/todo')) return `${beginning} [sent](${url}) a todo list.`;
  const fence = fenceFor(content + note);
  const [opening, closing] = [`${beginning} [said](${url}):\n${fence}quote\n`, `\n${fence}`];
  const room = MAX_MESSAGE_LENGTH - [...opening, ...closing].length;
  return opening + cutContent(content, room) + closing;
}

/** Longer than any fence in the text. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  return '`'.repeat(longest + 1);
}

/** What would end a link in the form of clients, or mean something within it. */
const UNSAFE = /[`>*&[\]]|\$\$/;
const ESCAPED: Readonly<Record<string, string>> = {
  '`': '&#96;',
  '>': '&gt;',
  '*': '&#42;',
  '&': '&amp;',
  '[': '&#91;',
  ']': '&#93;',
  $$: '&#36;&#36;',
};
const escapeTitle = (text: string): string => text.replace(/[`>*&[\]]|\$\$/g, (unsafe) => ESCAPED[unsafe]!);

/** In the form of clients where they can read it, else as any link. */
function linkTo(channel: Pick<Channel, 'id' | 'name'>, { id, topic }: Pick<Message, 'id' | 'topic'>): string {
  if (!UNSAFE.test(channel.name) && !UNSAFE.test(topic)) return `#**${channel.name}>${topic}@${id}**`;
  const title = `#${escapeTitle(channel.name)} > ${escapeTitle(topic === '' ? EMPTY_TOPIC_DISPLAY_NAME : topic)} @ 💬`;
  return `[${title}](${messageUrl(topicUrl(channel, topic), id).slice(1)})`;
}
