import type { NoticeTexts, NoticeWords } from '../access/email.js';
import { EMPTY_TOPIC_DISPLAY_NAME } from '../channels/channel.js';
import { TEXT_LANGUAGES } from '../kernel/languages.js';
import { takeCodePoints } from '../kernel/text.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import type { MessageView } from '../messages/message.js';
import type { User } from '../users/user.js';
import type { DueReason } from './due.js';

type Translate = NoticeWords['t'];

/** In code points (organization §14.4). */
const MAX_CONTENT_LENGTH = 200;

/** Lines of a notification (organization §14.3). */
export interface NotificationText {
  readonly title: string;
  readonly subtitle: string;
  readonly content: string;
}

interface TextFacts {
  readonly view: MessageView;
  readonly reason: DueReason;
  readonly groupName: string | null;
  readonly senderName: string;
  readonly t: Translate;
}

export function notificationText(renderedMessages: RenderedMessages, facts: TextFacts): NotificationText {
  const content = shortContent(renderedMessages.plainText(facts.view.message.renderedContent));
  return { title: titleOf(facts), subtitle: subtitleOf(facts), content };
}

/** Texts of notifications to a user. Only the exact codes of languages count. */
export const notificationWords = (texts: NoticeTexts, { settings }: User): Translate =>
  texts(TEXT_LANGUAGES.find((language) => language === settings.defaultLanguage) ?? 'en');

/** Topic as shown to people. */
export const shownTopic = (topic: string, t: Translate): string => (topic === '' ? t(EMPTY_TOPIC_DISPLAY_NAME) : topic);

function titleOf({ view: { message, conversation }, senderName, t }: TextFacts): string {
  if (conversation.kind === 'channel') return `#${conversation.name} > ${shownTopic(message.topic, t)}`;
  if (conversation.participants.length <= 2) return senderName;
  const names = conversation.participants.map(({ fullName }) => fullName);
  return names.sort().join(', ');
}

function subtitleOf({ view: { conversation }, reason, groupName, senderName, t }: TextFacts): string {
  switch (reason) {
    case 'mentioned':
      return `${senderName} ${groupName === null ? t('mentioned you') : t('mentioned @{name}', { name: groupName })}:`;
    case 'topicWildcard':
    case 'channelWildcard':
    case 'topicWildcardInFollowedTopic':
    case 'channelWildcardInFollowedTopic':
      return `${senderName} ${t('mentioned everyone')}:`;
    default:
      return conversation.kind === 'direct' && conversation.participants.length <= 2 ? '' : `${senderName}:`;
  }
}

/** Shortens runs of quotes if there is other text, then the whole content (organization §14.4). */
function shortContent(text: string): string {
  const shortened = withoutQuotes(text.trim());
  const cut = takeCodePoints(shortened, MAX_CONTENT_LENGTH);
  return cut === shortened ? shortened : `${cut}…`;
}

const isQuote = (line: string): boolean => line.startsWith('>');
/** Texts of the web client between the author and the quote, in all its languages. */
const SAID = [
  ...['said', 'قال', 'napsal(a)', 'schrieb', 'dijo', 'نوشت', 'a dit', 'כתב/ה', 'ha detto', 'さんの発言', 'zei'],
  ...['napisał(a)', 'disse', 'dedi ki', 'пише', '说'],
].map((said) => ` ${said}:`);

const namesAuthor = (line: string): boolean => SAID.some((end) => line.endsWith(end));

function withoutQuotes(text: string): string {
  const kept: string[] = [];
  let hasOther = false;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const isAttribution = namesAuthor(line) && isQuote(lines.slice(index + 1).find((it) => it !== '') ?? '');
    if (isQuote(line) || isAttribution) {
      if (kept.at(-1) !== '[…]') kept.push('[…]');
    } else {
      if (line !== '') hasOther = true;
      if (line !== '' || kept.at(-1) !== '[…]') kept.push(line);
    }
  }
  return hasOther ? kept.join('\n').trim() : text;
}
