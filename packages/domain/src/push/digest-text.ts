import { type Email, emailButton, emailDocument, emailHeading, type NoticeWords } from '../access/email.js';
import { directionOf } from '../kernel/languages.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { emailEnd, hiddenContentNotice } from './missed-email-text.js';
import { shownTopic } from './notification-text.js';

export interface DigestConversation {
  readonly channelName: string;
  readonly topic: string;
  readonly url: string;
  readonly messageCount: number;
  readonly senderCount: number;
  /** First unread messages, oldest first, with names as the recipient may see them and plain text. */
  readonly messages: readonly { readonly senderName: string; readonly text: string }[];
}

export interface DigestFacts {
  readonly words: NoticeWords;
  readonly realm: Realm;
  readonly url: string;
  readonly user: User;
  /** Conversations, hottest first. */
  readonly conversations: readonly DigestConversation[];
  /** Newest first. */
  readonly newChannels: readonly { readonly name: string; readonly url: string }[];
  /** False if the user or the organization disabled message content in emails. */
  readonly showsContent: boolean;
  readonly unsubscribeUrl: string;
}

/** Composes the weekly digest, which has at least one conversation or channel. */
export function composeDigest(facts: DigestFacts): Email {
  const { words, realm, url, user, showsContent, unsubscribeUrl } = facts;
  const { t, language } = words;
  const { name } = realm;
  const subject = toSingleLine(t('Weekly digest of {name}', { name }));
  const link = { label: t('Open {name}', { name }), url: `${url}/` };
  const { text, html } = showsContent ? contentOf(facts) : summaryOf(facts);
  const reasons = [
    t('You are receiving this because you have not been active for some days and have email digests enabled.'),
    t('Do not reply to this email.'),
  ];
  const end = emailEnd(words, reasons, `${url}/#settings/notifications`, unsubscribeUrl);
  return {
    to: user.email,
    senderName: toSingleLine(t('{name} digest', { name })),
    subject,
    text: `${[...text, `${link.label}:\n${link.url}`, end.text].join('\n\n')}\n`,
    html: emailDocument(language, subject, [...html, emailButton(link.label, link.url)], end.html),
    unsubscribeUrl,
  };
}

interface Parts {
  readonly text: readonly string[];
  readonly html: readonly string[];
}

const paragraph = (markup: string): string => `<p style="margin:0 0 20px;overflow-wrap:anywhere">${markup}</p>`;
const anchor = (url: string, text: string): string =>
  `<a href="${escapeHtml(url)}" style="color:#1558b0"><bdi>${escapeHtml(text)}</bdi></a>`;

function contentOf({ words: { t, language }, conversations, newChannels }: DigestFacts): Parts {
  const text: string[] = [];
  const html: string[] = [];
  const start = directionOf(language) === 'rtl' ? 'right' : 'left';
  for (const { channelName, topic, url, messageCount, senderCount, messages } of conversations) {
    const title = toSingleLine(`#${channelName} > ${shownTopic(topic, t)}`);
    const counts = t('Unread messages: {messages}, senders: {senders}', {
      messages: messageCount,
      senders: senderCount,
    });
    text.push(`${title}\n${counts}\n${url}`);
    html.push(emailHeading(anchor(url, title)), `<p style="margin:0 0 8px">${escapeHtml(counts)}</p>`);
    for (const message of messages) {
      text.push(`${message.senderName}:\n\n${message.text}`);
      html.push(
        `<p style="margin:0 0 20px;border-${start}:3px solid #d5dae1;padding-${start}:12px;white-space:pre-wrap;overflow-wrap:anywhere">` +
          `<b>${escapeHtml(message.senderName)}</b>\n<bdi>${escapeHtml(message.text)}</bdi></p>`,
      );
    }
  }
  if (newChannels.length > 0) {
    const title = t('New channels');
    text.push(`${title}:\n${newChannels.map(({ name, url }) => `#${name}\n${url}`).join('\n')}`);
    html.push(
      emailHeading(escapeHtml(title)),
      paragraph(newChannels.map(({ name, url }) => anchor(url, `#${name}`)).join('<br>')),
    );
  }
  return { text, html };
}

/** Returns a summary without names of channels or users. */
function summaryOf({ words, realm, conversations, newChannels }: DigestFacts): Parts {
  const { t } = words;
  const news = [
    t('News of the last week in {name}:', { name: realm.name }),
    ...(conversations.length > 0 ? [t('Busy conversations: {count}', { count: conversations.length })] : []),
    ...(newChannels.length > 0 ? [t('New channels: {count}', { count: newChannels.length })] : []),
  ];
  const notice = hiddenContentNotice(words, realm);
  return {
    text: [news.join('\n'), notice],
    html: [paragraph(news.map(escapeHtml).join('<br>')), paragraph(escapeHtml(notice))],
  };
}
