import type { Actor } from '../access/actor.js';
import type { Channel } from '../channels/channel.js';
import { EMPTY_TOPIC_DISPLAY_NAME } from '../channels/topic.js';
import type { MessageId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/syntax.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { loadReadable } from './load-access.js';
import { cutContent, MAX_MESSAGE_LENGTH, type Message } from './message.js';
import { loadSender, participantIdsOf } from './message-people.js';
import { conversationUrl, messageUrl, topicUrl } from './narrow-urls.js';

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
