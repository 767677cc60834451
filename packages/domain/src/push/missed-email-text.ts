import { type Email, emailButton, emailDocument, emailHeading, type NoticeWords } from '../access/email.js';
import type { UserId } from '../kernel/ids.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';
import { firstOf } from '../kernel/work.js';
import type { MessageView } from '../messages/message.js';
import { conversationUrl, messageUrl, topicUrl } from '../messages/narrow.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import type { DueReason } from './due.js';
import { shownTopic } from './notification-text.js';

export interface MissedMessage {
  readonly view: MessageView;
  readonly reason: DueReason;
  /** Mentioned group; null if there is none or the user was mentioned by name. */
  readonly groupName: string | null;
  /** Sender's name as visible to the recipient. */
  readonly senderName: string;
  /** Plain text. */
  readonly text: string;
}

export interface MissedEmailFacts {
  readonly words: NoticeWords;
  readonly realm: Realm;
  readonly url: string;
  readonly user: User;
  /** At least one message of one conversation, oldest first. */
  readonly messages: readonly MissedMessage[];
  readonly hasMore: boolean;
  /** False if the user or the organization disabled message content in emails. */
  readonly showsContent: boolean;
  /** True to include the organization in the subject. */
  readonly showsRealm: boolean;
  /** Thread id referenced by all emails of the conversation, so that email clients show them as one thread. */
  readonly threadId: string;
  readonly unsubscribeUrl: string;
  /** Address that posts replies; null if replies are not read. */
  readonly replyTo: string | null;
}

/** Composes the email about missed messages of one conversation. */
export function composeMissedEmail(facts: MissedEmailFacts): Email {
  const { words, realm, url, user, messages, hasMore, showsContent, showsRealm, threadId, unsubscribeUrl } = facts;
  const { t } = words;
  const { view } = firstOf(messages);
  const { name } = realm;
  const subject = showsContent ? subjectOf(words, messages, user.id) : t('New messages');
  const footer = [
    reasonOf(words, messages[messages.length - 1]!, showsContent),
    facts.replyTo === null ? t('Do not reply to this email.') : t('Reply to this email directly, or in the chat.'),
  ];
  const parts: EmailParts = {
    words,
    blocks: showsContent ? messages.map(({ senderName, text }) => ({ senderName, text })) : [],
    notices: [
      ...(showsContent ? [] : [hiddenContentNotice(words, realm)]),
      ...(hasMore ? [t('There are more messages in this conversation.')] : []),
    ],
    // The message URL contains the channel and topic names.
    button: {
      label: t('View or reply in {name}', { name }),
      url: showsContent ? url + messageUrl(pathOf(view), view.message.id) : `${url}/`,
    },
    end: emailEnd(words, footer, `${url}/#settings/notifications`, unsubscribeUrl),
  };
  return {
    to: user.email,
    senderName: toSingleLine(t('{name} notifications', { name })),
    subject: toSingleLine(showsRealm ? `[${name}] ${subject}` : subject),
    text: textOf(parts),
    html: htmlOf(subject, parts),
    threadId,
    unsubscribeUrl,
    ...(facts.replyTo !== null && { replyTo: facts.replyTo }),
  };
}

/** Explains whether the user's or the organization's settings hide message content. */
export const hiddenContentNotice = ({ t }: NoticeWords, { settings }: Pick<Realm, 'settings'>): string =>
  settings.messageContentAllowedInEmailNotifications
    ? t('This email does not include message content because you have disabled message content in email notifications.')
    : t('This email does not include message content because your organization hides message content in email.');

/** End of an email in text and HTML form. */
export interface EmailEnd {
  readonly text: string;
  readonly html: string;
}

/** Composes the reasons for an email, and links to turn it off. */
export function emailEnd(
  { t }: NoticeWords,
  sentences: readonly string[],
  settingsUrl: string,
  unsubscribeUrl: string,
): EmailEnd {
  const settings = t('Manage email preferences');
  const unsubscribe = t('Unsubscribe');
  const link = (url: string, label: string) =>
    `<a href="${escapeHtml(url)}" style="color:#545c66">${escapeHtml(label)}</a>`;
  return {
    text: `-- \n${sentences.join('\n')}\n\n${settings}:\n${settingsUrl}\n${unsubscribe}:\n${unsubscribeUrl}`,
    html: `${escapeHtml(sentences.join(' '))}<br>\n${link(settingsUrl, settings)} &middot;\n${link(unsubscribeUrl, unsubscribe)}`,
  };
}

function pathOf({ message, conversation }: MessageView): string {
  return conversation.kind === 'channel'
    ? topicUrl({ id: conversation.channelId, name: conversation.name }, message.topic)
    : conversationUrl(conversation.participants.map(({ id }) => id));
}

/** Maximum number of names in a subject. */
const MAX_NAMES = 3;

function subjectOf({ t, language }: NoticeWords, messages: readonly MissedMessage[], userId: UserId): string {
  const { view, senderName } = firstOf(messages);
  const { conversation, message } = view;
  if (conversation.kind === 'channel') return `#${conversation.name} > ${shownTopic(message.topic, t)}`;
  const others = conversation.participants.filter(({ id }) => id !== userId);
  if (others.length <= 1) return t('DMs with {name}', { name: senderName });
  // Participants hidden from a guest appear only through their messages.
  const names = others.map(
    ({ id, fullName }) => messages.find((it) => it.view.sender.id === id)?.senderName ?? fullName,
  );
  const shown = names.slice(0, MAX_NAMES);
  const more = names.length - shown.length;
  if (more > 0) shown.push(t('{count} more', { count: more }));
  return t('Group DMs with {names}', { names: new Intl.ListFormat(language).format(shown) });
}

function reasonOf({ t }: NoticeWords, missed: MissedMessage, showsPlace: boolean): string {
  const { reason, groupName, view } = missed;
  switch (reason) {
    case 'directMessage':
      return t('You are receiving this because you have email notifications enabled for direct messages.');
    case 'mentioned':
      return groupName === null
        ? t('You are receiving this because you were personally mentioned.')
        : t('You are receiving this because @{group} was mentioned.', { group: groupName });
    case 'topicWildcard':
      return t('You are receiving this because all topic participants were mentioned.');
    case 'channelWildcard':
      return t('You are receiving this because everyone in the channel was mentioned.');
    case 'topicWildcardInFollowedTopic':
    case 'channelWildcardInFollowedTopic':
      return t('You are receiving this because you have wildcard mention notifications enabled for topics you follow.');
    case 'followedTopic':
      return t('You are receiving this because you have email notifications enabled for topics you follow.');
    default:
      return view.conversation.kind === 'channel' && showsPlace
        ? t('You are receiving this because you have email notifications enabled for {channel}.', {
            channel: `#${view.conversation.name}`,
          })
        : t('You are receiving this because you have email notifications enabled for the channel.');
  }
}

interface EmailParts {
  readonly words: NoticeWords;
  readonly blocks: readonly { readonly senderName: string; readonly text: string }[];
  readonly notices: readonly string[];
  readonly button: { readonly label: string; readonly url: string };
  readonly end: EmailEnd;
}

function textOf({ blocks, notices, button, end }: EmailParts): string {
  const parts = [
    ...blocks.map(({ senderName, text }) => `${senderName}:\n\n${text}`),
    ...notices,
    `${button.label}:\n${button.url}`,
    end.text,
  ];
  return `${parts.join('\n\n')}\n`;
}

function htmlOf(subject: string, { words, blocks, notices, button, end }: EmailParts): string {
  const body = [
    ...blocks.map(
      ({ senderName, text }) =>
        `${emailHeading(escapeHtml(senderName))}\n` +
        `<p dir="auto" style="margin:0 0 20px;white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text)}</p>`,
    ),
    ...notices.map((notice) => `<p style="margin:0 0 20px">${escapeHtml(notice)}</p>`),
    emailButton(button.label, button.url),
  ];
  return emailDocument(words.language, subject, body, end.html);
}
