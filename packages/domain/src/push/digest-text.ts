import { type Email, emailButton, emailDocument } from '../access/email.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { hiddenContentNotice } from './missed-email-text.js';
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

const REASON =
  'You are receiving this because you have not been active for some days and have email digests enabled. Do not reply to this email.';

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Composes the weekly digest, which has at least one conversation or channel. */
export function composeDigest(facts: DigestFacts): Email {
  const { realm, url, user, showsContent, unsubscribeUrl } = facts;
  const subject = toSingleLine(`Weekly digest of ${realm.name}`);
  const link = { label: `Open ${realm.name}`, url: `${url}/` };
  const settingsUrl = `${url}/#settings/notifications`;
  const { text, html } = showsContent ? contentOf(facts) : summaryOf(facts);
  const footer = `${escapeHtml(REASON)}<br>
<a href="${escapeHtml(settingsUrl)}" style="color:#545c66">Manage email preferences</a> &middot;
<a href="${escapeHtml(unsubscribeUrl)}" style="color:#545c66">Unsubscribe</a>`;
  const end = `-- \n${REASON}\n\nManage email preferences:\n${settingsUrl}\nUnsubscribe:\n${unsubscribeUrl}`;
  return {
    to: user.email,
    senderName: toSingleLine(`${realm.name} digest`),
    subject,
    text: `${[...text, `${link.label}:\n${link.url}`, end].join('\n\n')}\n`,
    html: emailDocument(subject, [...html, emailButton(link.label, link.url)], footer),
    unsubscribeUrl,
  };
}

interface Parts {
  readonly text: readonly string[];
  readonly html: readonly string[];
}

const paragraph = (markup: string): string => `<p style="margin:0 0 20px;overflow-wrap:anywhere">${markup}</p>`;
const heading = (markup: string): string => `<p style="margin:0 0 8px;overflow-wrap:anywhere">${markup}</p>`;
const anchor = (url: string, text: string): string =>
  `<a href="${escapeHtml(url)}" style="color:#1558b0">${escapeHtml(text)}</a>`;

function contentOf({ conversations, newChannels }: DigestFacts): Parts {
  const text: string[] = [];
  const html: string[] = [];
  for (const { channelName, topic, url, messageCount, senderCount, messages } of conversations) {
    const title = toSingleLine(`#${channelName} > ${shownTopic(topic)}`);
    const counts = `${counted(messageCount, 'unread message')} by ${counted(senderCount, 'person').replace('persons', 'people')}`;
    text.push(`${title}\n${counts}\n${url}`);
    html.push(heading(`<b>${anchor(url, title)}</b><br>${counts}`));
    for (const message of messages) {
      text.push(`${message.senderName}:\n\n${message.text}`);
      html.push(
        `<p style="margin:0 0 20px;border-left:3px solid #d5dae1;padding-left:12px;white-space:pre-wrap;overflow-wrap:anywhere">` +
          `<b>${escapeHtml(message.senderName)}</b>\n${escapeHtml(message.text)}</p>`,
      );
    }
  }
  if (newChannels.length > 0) {
    text.push(`New channels:\n${newChannels.map(({ name, url }) => `#${name}\n${url}`).join('\n')}`);
    html.push(
      heading('<b>New channels</b>'),
      paragraph(newChannels.map(({ name, url }) => anchor(url, `#${name}`)).join('<br>')),
    );
  }
  return { text, html };
}

/** Returns a summary without names of channels or users. */
function summaryOf({ realm, conversations, newChannels }: DigestFacts): Parts {
  const news = [
    ...(conversations.length > 0 ? [counted(conversations.length, 'busy conversation')] : []),
    ...(newChannels.length > 0 ? [counted(newChannels.length, 'new channel')] : []),
  ];
  const text = [
    `In the last week, there was news in ${realm.name}: ${news.join(' and ')}.`,
    hiddenContentNotice(realm),
  ];
  return { text, html: text.map((each) => paragraph(escapeHtml(each))) };
}
