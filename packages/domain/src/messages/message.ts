import { DomainError } from '../kernel/errors.js';
import type { ChannelId, MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { isLongerThan, takeCodePoints, trimEnd } from '../kernel/text.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { HasProperty, LaterProperty } from './message-properties.js';

/** What sending stores, and nobody's view of it. */
export interface Message extends Readonly<Record<HasProperty, boolean>> {
  readonly id: MessageId;
  readonly realmId: RealmId;
  readonly senderId: UserId;
  /** The recipient it was sent to, for ever, and its place there: what received and read hang on. */
  readonly sentRecipientId: RecipientId;
  readonly ordinal: Ordinal;
  /** Where it is now: what listing and access hang on. */
  readonly recipientId: RecipientId;
  /** Null for direct messages. */
  readonly channelId: ChannelId | null;
  /** `''` for direct messages, and for the empty topic of channels. */
  readonly topic: string;
  /** Markdown. */
  readonly content: string;
  /** HTML. */
  readonly renderedContent: string;
  readonly sentAt: UnixSeconds;
  readonly clientName: string;
  readonly isMeMessage: boolean;
  readonly mentionsChannel: boolean;
  readonly topicLinks: readonly TopicLink[];
  /** A notice that everybody receives as read, but for those it names. */
  readonly isReadByDefault: boolean;
  /** Its text or its place has ever been changed. */
  readonly isEdited: boolean;
  /** Of its text. Null: never. */
  readonly lastEditedAt: UnixSeconds | null;
  /** Null: never, or only by marking its topic resolved and unresolved. */
  readonly lastMovedAt: UnixSeconds | null;
  /** Grows with every change of what is shown of the message. */
  readonly version: number;
}

export type NewMessage = Omit<
  Message,
  'id' | 'sentRecipientId' | 'ordinal' | 'version' | 'isEdited' | 'lastEditedAt' | 'lastMovedAt' | LaterProperty
> &
  /** Of one that comes from elsewhere, where it was changed. */
  Partial<Pick<Message, 'isEdited' | 'lastEditedAt' | 'lastMovedAt'>> & {
    /** Who of those that receive it has read it from the start: the sender, mostly. */
    readonly readBy: readonly UserId[];
    /**
     * Who is named in it, or is in a group named in it, or whose alert word it holds. A bot named here that has no open
     * span receives the message all the same, and by default unread.
     */
    readonly exceptions: ReadonlyMap<UserId, SentFlags>;
  };

/** What sending gives a person beyond having the message. */
export interface SentFlags {
  readonly mentioned?: boolean;
  readonly topicWildcardMentioned?: boolean;
  readonly hasAlertWord?: boolean;
  /** Gets it unread although the message is read by default. */
  readonly unread?: boolean;
}

/** What a change of its text makes of a message. */
export interface EditedText
  extends Pick<
    Message,
    'content' | 'renderedContent' | 'isMeMessage' | 'mentionsChannel' | 'hasLink' | 'hasImage' | 'hasAttachment'
  > {
  readonly editedAt: UnixSeconds;
  /** Whom it names now, among those who have it. Everybody else is no longer named. */
  readonly exceptions: ReadonlyMap<UserId, Omit<SentFlags, 'unread'>>;
}

/** What a message is to one person. */
export interface PersonalFlags {
  readonly read: boolean;
  readonly starred: boolean;
  readonly collapsed: boolean;
  readonly mentioned: boolean;
  readonly channelWildcardMentioned: boolean;
  readonly topicWildcardMentioned: boolean;
  readonly hasAlertWord: boolean;
  /** Taken from channel history without ever having been received. */
  readonly historical: boolean;
}

/** How a message that was never received shows in channel history (messages §5.4). */
export const HISTORICAL: PersonalFlags = {
  read: true,
  starred: false,
  collapsed: false,
  mentioned: false,
  channelWildcardMentioned: false,
  topicWildcardMentioned: false,
  hasAlertWord: false,
  historical: true,
};

/** In code points (protocol §14). */
export const MAX_MESSAGE_LENGTH = 10_000;
const TRUNCATION_NOTICE = '\n[message truncated]';

/** What is kept of what somebody typed (messages §3.2 row 7). @throws DomainError INVALID_MESSAGE_CONTENT */
export function parseContent(raw: string): string {
  const content = trimEnd(raw).replace(/^\n+/, '');
  if (content === '') throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not be empty');
  if (content.includes('\0')) throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not contain null bytes');
  return cutContent(content, MAX_MESSAGE_LENGTH);
}

/** In at most so many code points, with a notice at the end of what had to be cut. */
export const cutContent = (content: string, max: number): string =>
  isLongerThan(content, max) ? takeCodePoints(content, max - TRUNCATION_NOTICE.length) + TRUNCATION_NOTICE : content;
