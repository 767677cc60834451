import type { Actor } from '../access/actor.js';
import { type Channel, EMPTY_TOPIC_DISPLAY_NAME } from '../channels/channel.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId, ReminderId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';
import { PersonalList } from '../kernel/personal-list.js';
import type { FoundUserRowReads, FoundUserRows, RowsOfMessages, UserRow } from '../kernel/rows.js';
import { isLongerThan, MAX_KEPT_TEXT_BYTES, trimEnd } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/markdown.js';
import { loadReadable } from '../messages/load-access.js';
import { cutContent, loadSender, MAX_MESSAGE_LENGTH, type Message, participantIdsOf } from '../messages/message.js';
import { conversationUrl, messageUrl, topicUrl } from '../messages/narrow.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';

/** Reminder about a message at a chosen time. */
export interface Reminder extends UserRow {
  readonly id: ReminderId;
  readonly messageId: MessageId;
  /** Empty if there is no note. */
  readonly note: string;
  /** Fallback content in Markdown and HTML, for a message that the user can no longer read when the reminder is due. */
  readonly content: string;
  readonly renderedContent: string;
  readonly dueAt: UnixSeconds;
  /** Reason for a failed delivery; null if it did not fail. */
  readonly failure: string | null;
}

/** Limit per user. */
export const MAX_REMINDERS = 1000;
/** In code points (protocol §14). */
export const MAX_NOTE_LENGTH = 1000;

/** Normalizes a typed note (users §21). @throws DomainError REMINDER_NOTE_TOO_LONG */
export function parseNote(raw: string): string {
  const note = trimEnd(raw).replace(/^\n+/, '');
  if (!isLongerThan(note, MAX_NOTE_LENGTH)) return note;
  throw new DomainError('REMINDER_NOTE_TOO_LONG', `Maximum reminder note length: ${MAX_NOTE_LENGTH} characters`);
}

/** Sorted by time. Ids are from the same sequence as those of scheduled messages. */
export const REMINDER_LIST = new PersonalList<Reminder>('reminders', {
  rows: {
    kind: 'reminder',
    foundBy: 'realm',
    order: ['dueAt', 'id'],
    texts: ['content', 'renderedContent'],
    message: 'messageId',
  },
  max: MAX_REMINDERS,
  unknown: ['UNKNOWN_REMINDER', 'Reminder does not exist'],
  tooMany: ['TOO_MANY_REMINDERS', `Too many reminders (limit: ${MAX_REMINDERS}).`],
  tooLong: ['TOO_MANY_REMINDERS', `Too much text in reminders (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`],
  quoted: ({ messageId }) => messageId,
  events: {
    added: (reminder) => ({ type: 'reminder.added', reminder }),
    removed: ({ id }) => ({ type: 'reminder.removed', id }),
  },
});

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    reminders: [
      reads: FoundUserRowReads<Reminder> & RowsOfMessages<Reminder>,
      repository: FoundUserRows<Reminder> & RowsOfMessages<Reminder>,
    ];
  }
}

/** Removes the text of a deleted message from its reminders. */
export const DELETED_MESSAGE_JOB = jobKind({
  name: 'reminders.remove_text',
  readPayload: idPayload<{ readonly id: number }>('id'),
});

/** Message with all data shown in a reminder. */
export interface RemindedMessage {
  readonly message: Pick<Message, 'id' | 'topic' | 'content'>;
  readonly sender: Pick<User, 'id' | 'fullName'>;
  readonly conversation:
    | { readonly kind: 'channel'; readonly channel: Pick<Channel, 'id' | 'name'> }
    /** All participants, ascending. */
    | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages' | 'recipients' | 'users'>;

/** @throws DomainError UNKNOWN_MESSAGE if the actor cannot read it */
export async function loadReminded(
  reads: Reads,
  actor: Actor,
  realm: Realm,
  messageId: MessageId,
): Promise<RemindedMessage> {
  const { message, channel } = await loadReadable(reads, actor, messageId);
  const sender = await loadSender(reads, message);
  const isHidden = (await inaccessibleUserIds(reads, actor, realm, [sender.id])).has(sender.id);
  if (channel)
    return { message, sender: isHidden ? unknown(sender) : sender, conversation: { kind: 'channel', channel } };
  const userIds = (await participantIdsOf(reads, message)) ?? [];
  return { message, sender, conversation: { kind: 'direct', userIds } };
}

/** Placeholder for users hidden from a limited guest, as in the message itself. */
const unknown = ({ id }: User) => ({ id, fullName: 'Unknown user' });

/** Returns the reminder as Markdown within the message length limit (users §21). */
export function reminderText(
  { message, sender, conversation }: RemindedMessage,
  note: string,
  realmUrl: string,
): string {
  const subject =
    conversation.kind === 'channel' ? linkTo(conversation.channel, message) : 'the following direct message';
  const narrowUrl =
    conversation.kind === 'channel'
      ? topicUrl(conversation.channel, message.topic)
      : conversationUrl(conversation.userIds);
  const url = realmUrl + messageUrl(narrowUrl, message.id);
  const beginning = `You requested a reminder for ${subject}.${noteText(note)}\n\n${silentMention(sender)}`;
  const { content } = message;
  if (content.startsWith('/poll')) return `${beginning} [sent](${url}) a poll.`;
  if (content.startsWith('/todo')) return `${beginning} [sent](${url}) a todo list.`;
  const fence = fenceFor(content + note);
  const [opening, closing] = [`${beginning} [said](${url}):\n${fence}quote\n`, `\n${fence}`];
  const room = MAX_MESSAGE_LENGTH - [...opening, ...closing].length;
  return opening + cutContent(content, room) + closing;
}

/** Returns the reminder of a deleted message. Names neither its author nor its conversation (users §21). */
export const deletedReminderText = (note: string): string =>
  `You requested a reminder for a message that has been deleted.${noteText(note)}`;

/** Returns the users that rendered text mentions, with the names that they had then. */
export const usersMentionedIn = (html: string): readonly Pick<User, 'id' | 'fullName'>[] =>
  [...html.matchAll(/ data-user-id="(\d+)">@?([^<]*)<\/span>/g)].map(([, id, name]) => ({
    id: Number(id) as UserId,
    fullName: name!.replaceAll('&amp;', '&'),
  }));

/** Returns the note with mentions that find users who were renamed since. */
export function noteWithPresentNames({ note, renderedContent }: Reminder, users: readonly User[]): string {
  let changed = note;
  for (const { id, fullName } of usersMentionedIn(renderedContent)) {
    const user = users.find((each) => each.id === id);
    if (!user || user.fullName === fullName) continue;
    for (const former of [fullName, `${fullName}|${id}`])
      changed = changed.replaceAll(`**${former}**`, `**${user.fullName}|${id}**`);
  }
  return changed;
}

const noteText = (note: string): string => (note === '' ? '' : ` Note:\n > ${note.replaceAll('\n', '\n > ')}`);

/** Returns a fence longer than any in the text. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  return '`'.repeat(longest + 1);
}

/** Characters that would end a channel link or have a meaning inside it. */
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

/** Returns a channel link if its syntax can express the names, otherwise an ordinary link. */
function linkTo(channel: Pick<Channel, 'id' | 'name'>, { id, topic }: Pick<Message, 'id' | 'topic'>): string {
  if (!UNSAFE.test(channel.name) && !UNSAFE.test(topic)) return `#**${channel.name}>${topic}@${id}**`;
  const title = `#${escapeTitle(channel.name)} > ${escapeTitle(topic === '' ? EMPTY_TOPIC_DISPLAY_NAME : topic)} @ 💬`;
  return `[${title}](${messageUrl(topicUrl(channel, topic), id).slice(1)})`;
}
