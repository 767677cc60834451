import { type Email, emailButton, emailDocument } from '../access/email.js';
import type { UserId } from '../kernel/ids.js';
import { escapeHtml, toSingleLine } from '../kernel/text.js';
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
  const { realm, url, user, messages, hasMore, showsContent, showsRealm, threadId, unsubscribeUrl, replyTo } = facts;
  const { view } = messages[0]!;
  // The message URL contains the channel and topic names.
  const link = showsContent ? url + messageUrl(pathOf(view), view.message.id) : `${url}/`;
  const subject = showsContent ? subjectOf(messages, user.id) : 'New messages';
  const blocks = showsContent ? messages.map(({ senderName, text }) => ({ senderName, text })) : [];
  const notices = [
    ...(showsContent ? [] : [hiddenContentNotice(realm)]),
    ...(hasMore ? ['There are more messages in this conversation.'] : []),
  ];
  const reason = reasonOf(messages[messages.length - 1]!, showsContent);
  const settingsUrl = `${url}/#settings/notifications`;
  const replies = replyTo === null ? NO_REPLY : REPLY;
  const parts = { blocks, notices, reason, replies, link, realmName: realm.name, settingsUrl, unsubscribeUrl };
  return {
    to: user.email,
    senderName: toSingleLine(`${realm.name} notifications`),
    subject: toSingleLine(showsRealm ? `[${realm.name}] ${subject}` : subject),
    text: textOf(parts),
    html: htmlOf({ subject, ...parts }),
    threadId,
    unsubscribeUrl,
    ...(replyTo !== null && { replyTo }),
  };
}

const HIDDEN = {
  user: 'This email does not include message content because you have disabled message content in email notifications.',
  realm: 'This email does not include message content because your organization hides message content in email.',
};

/** Explains whether the user's or the organization's settings hide message content. */
export const hiddenContentNotice = ({ settings }: Pick<Realm, 'settings'>): string =>
  HIDDEN[settings.messageContentAllowedInEmailNotifications ? 'user' : 'realm'];

function pathOf({ message, conversation }: MessageView): string {
  return conversation.kind === 'channel'
    ? topicUrl({ id: conversation.channelId, name: conversation.name }, message.topic)
    : conversationUrl(conversation.participants.map(({ id }) => id));
}

/** Maximum number of names in a subject. */
const MAX_NAMES = 3;

function subjectOf(messages: readonly MissedMessage[], userId: UserId): string {
  const { view, senderName } = messages[0]!;
  const { conversation, message } = view;
  if (conversation.kind === 'channel') return `#${conversation.name} > ${shownTopic(message.topic)}`;
  const others = conversation.participants.filter(({ id }) => id !== userId);
  if (others.length <= 1) return `DMs with ${senderName}`;
  // Participants hidden from a guest appear only through their messages.
  const names = others.map(
    ({ id, fullName }) => messages.find((it) => it.view.sender.id === id)?.senderName ?? fullName,
  );
  const shown = names.slice(0, MAX_NAMES);
  const more = names.length - shown.length;
  if (more > 0) return `Group DMs with ${shown.join(', ')} and ${more} ${more === 1 ? 'other' : 'others'}`;
  return `Group DMs with ${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

function reasonOf({ reason, groupName, view: { conversation, message } }: MissedMessage, showsPlace: boolean): string {
  const channel = conversation.kind === 'channel' && showsPlace ? `#${conversation.name}` : 'a channel';
  const topic = conversation.kind === 'channel' && showsPlace ? `${channel} > ${shownTopic(message.topic)}` : 'a topic';
  switch (reason) {
    case 'directMessage':
      return 'You are receiving this because you have email notifications enabled for direct messages.';
    case 'mentioned':
      return groupName === null
        ? 'You are receiving this because you were personally mentioned.'
        : `You are receiving this because @${groupName} was mentioned.`;
    case 'topicWildcard':
      return `You are receiving this because all topic participants were mentioned in ${topic}.`;
    case 'channelWildcard':
      return `You are receiving this because everyone was mentioned in ${channel}.`;
    case 'topicWildcardInFollowedTopic':
    case 'channelWildcardInFollowedTopic':
      return 'You are receiving this because you have wildcard mention notifications enabled for topics you follow.';
    case 'followedTopic':
      return 'You are receiving this because you have email notifications enabled for topics you follow.';
    default:
      return `You are receiving this because you have email notifications enabled for ${channel}.`;
  }
}

interface EmailParts {
  readonly blocks: readonly { readonly senderName: string; readonly text: string }[];
  readonly notices: readonly string[];
  readonly reason: string;
  readonly replies: string;
  readonly link: string;
  readonly realmName: string;
  readonly settingsUrl: string;
  readonly unsubscribeUrl: string;
}

const NO_REPLY = 'Do not reply to this email.';
const REPLY = 'Reply to this email directly, or in the chat.';

function textOf({
  blocks,
  notices,
  reason,
  replies,
  link,
  realmName,
  settingsUrl,
  unsubscribeUrl,
}: EmailParts): string {
  const parts = [
    ...blocks.map(({ senderName, text }) => `${senderName}:\n\n${text}`),
    ...notices,
    `View or reply in ${realmName}:\n${link}`,
    `-- \n${reason}\n${replies}\n\nManage email preferences:\n${settingsUrl}\nUnsubscribe:\n${unsubscribeUrl}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function htmlOf({ subject, ...parts }: EmailParts & { readonly subject: string }): string {
  const { blocks, notices, reason, replies, link, realmName, settingsUrl, unsubscribeUrl } = parts;
  const body = [
    ...blocks.map(
      ({ senderName, text }) =>
        `<p style="margin:0 0 4px"><b>${escapeHtml(senderName)}</b></p>\n` +
        `<p style="margin:0 0 20px;white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text)}</p>`,
    ),
    ...notices.map((notice) => `<p style="margin:0 0 20px">${escapeHtml(notice)}</p>`),
    emailButton(`View or reply in ${realmName}`, link),
  ];
  const footer = `${escapeHtml(reason)} ${replies}<br>
<a href="${escapeHtml(settingsUrl)}" style="color:#545c66">Manage email preferences</a> &middot;
<a href="${escapeHtml(unsubscribeUrl)}" style="color:#545c66">Unsubscribe</a>`;
  return emailDocument(subject, body, footer);
}
