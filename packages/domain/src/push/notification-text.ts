import { EMPTY_TOPIC_DISPLAY_NAME } from '../channels/channel.js';
import { takeCodePoints } from '../kernel/text.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import type { MessageView } from '../messages/message.js';
import type { DueReason } from './due.js';

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
  /** Language of the recipient, such as `de`; English is used for languages without texts. */
  readonly language: string;
}

/** Words that follow the sender's name in subtitles. */
interface Words {
  readonly you: string;
  readonly group: (name: string) => string;
  readonly everyone: string;
  /** Empty topic. */
  readonly generalChat: string;
  /** Sender whom the recipient may not see. */
  readonly unknownUser: string;
}

const ENGLISH: Words = {
  you: 'mentioned you',
  group: (name) => `mentioned @${name}`,
  everyone: 'mentioned everyone',
  generalChat: EMPTY_TOPIC_DISPLAY_NAME,
  unknownUser: 'Unknown user',
};

type Translation = readonly [you: string, group: string, everyone: string, generalChat: string, unknownUser: string];

/** The name of the group replaces `{name}`. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  ar: ['أشار إليك', 'أشار إلى @{name}', 'أشار إلى الجميع', 'دردشة عامة', 'مستخدم غير معروف'],
  cs: ['vás zmínil(a)', 'zmínil(a) @{name}', 'zmínil(a) všechny', 'Obecný chat', 'Neznámý uživatel'],
  de: ['hat dich erwähnt', 'hat @{name} erwähnt', 'hat alle erwähnt', 'Allgemeiner Chat', 'Unbekannte Person'],
  es: ['te mencionó', 'mencionó a @{name}', 'mencionó a todos', 'Chat general', 'Usuario desconocido'],
  fa: ['به شما اشاره کرد', 'به @{name} اشاره کرد', 'به همه اشاره کرد', 'چت عمومی', 'کاربر ناشناس'],
  fr: [
    'vous a mentionné',
    'a mentionné @{name}',
    'a mentionné tout le monde',
    'Discussion générale',
    'Utilisateur inconnu',
  ],
  he: ['אזכר/ה אתכם', 'אזכר/ה את @{name}', 'אזכר/ה את כולם', 'צ׳אט כללי', 'משתמש לא ידוע'],
  it: ['ti ha menzionato', 'ha menzionato @{name}', 'ha menzionato tutti', 'Chat generale', 'Utente sconosciuto'],
  ja: [
    'さんがあなたをメンションしました',
    'さんが@{name}をメンションしました',
    'さんが全員をメンションしました',
    '一般チャット',
    '不明なユーザー',
  ],
  nl: ['heeft je vermeld', 'heeft @{name} vermeld', 'heeft iedereen vermeld', 'Algemene chat', 'Onbekende gebruiker'],
  pl: ['wspomina o tobie', 'wspomina o @{name}', 'wspomina o wszystkich', 'Czat ogólny', 'Nieznany użytkownik'],
  'pt-br': ['mencionou você', 'mencionou @{name}', 'mencionou todos', 'Chat geral', 'Usuário desconhecido'],
  tr: ['sizden bahsetti', '@{name} grubundan bahsetti', 'herkesten bahsetti', 'Genel sohbet', 'Bilinmeyen kullanıcı'],
  uk: ['згадує вас', 'згадує @{name}', 'згадує всіх', 'Загальний чат', 'Невідомий користувач'],
  'zh-hans': ['提到了您', '提到了 @{name}', '提到了所有人', '综合聊天', '未知用户'],
};

export function notificationText(renderedMessages: RenderedMessages, facts: TextFacts): NotificationText {
  const content = shortContent(renderedMessages.plainText(facts.view.message.renderedContent));
  return { title: titleOf(facts), subtitle: subtitleOf(facts), content };
}

function wordsOf(language: string): Words {
  const translation = Object.hasOwn(TRANSLATIONS, language) && TRANSLATIONS[language];
  if (!translation) return ENGLISH;
  const [you, group, everyone, generalChat, unknownUser] = translation;
  return { you, group: (name) => group.replace('{name}', () => name), everyone, generalChat, unknownUser };
}

/** Name of a sender whom the recipient may not see. */
export const unknownSender = (language: string): string => wordsOf(language).unknownUser;

/** Topic as shown to people; emails are in English. */
export const shownTopic = (topic: string, language = 'en'): string =>
  topic === '' ? wordsOf(language).generalChat : topic;

function titleOf({ view: { message, conversation }, senderName, language }: TextFacts): string {
  if (conversation.kind === 'channel') return `#${conversation.name} > ${shownTopic(message.topic, language)}`;
  if (conversation.participants.length <= 2) return senderName;
  const names = conversation.participants.map(({ fullName }) => fullName);
  return names.sort().join(', ');
}

function subtitleOf({ view: { conversation }, reason, groupName, senderName, language }: TextFacts): string {
  const words = wordsOf(language);
  switch (reason) {
    case 'mentioned':
      return `${senderName} ${groupName === null ? words.you : words.group(groupName)}:`;
    case 'topicWildcard':
    case 'channelWildcard':
    case 'topicWildcardInFollowedTopic':
    case 'channelWildcardInFollowedTopic':
      return `${senderName} ${words.everyone}:`;
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
