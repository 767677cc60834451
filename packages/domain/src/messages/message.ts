import { DomainError, declareErrors } from '../kernel/errors.js';
import type { ChannelId, MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { isLongerThan, takeCodePoints, trimEnd } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { TopicLink } from '../markdown/markdown.js';
import { type EmailOwner, emailVisibilityOf } from '../users/accessible-users.js';
import type { Avatar, User } from '../users/user.js';

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

export const MESSAGE_ERRORS = declareErrors({
  UNKNOWN_MESSAGE: 'unknown',
  UNKNOWN_TOPIC: 'unknown',
  INVALID_TOPIC: 'invalid',
  INVALID_MESSAGE_CONTENT: 'invalid',
  /** Within the bounds of work and size. */
  UNRENDERABLE_CONTENT: 'invalid',
  INVALID_WIDGET: 'invalid',
  INVALID_SUBMESSAGE: 'invalid',
  CANNOT_ATTACH_SUBMESSAGE: 'forbidden',
  TOO_MANY_SUBMESSAGES: 'conflict',
  UNKNOWN_DESTINATION: 'unknown',
  CHANNEL_REQUIRED: 'invalid',
  RECIPIENTS_REQUIRED: 'invalid',
  CANNOT_ACCESS_RECIPIENT: 'forbidden',
  DIRECT_MESSAGES_DISABLED: 'forbidden',
  CONVERSATION_NOT_AUTHORIZED: 'forbidden',
  CANNOT_START_CONVERSATION: 'forbidden',
  CHANNEL_WILDCARD_NOT_ALLOWED: 'forbidden',
  TOPIC_WILDCARD_NOT_ALLOWED: 'forbidden',
  INVALID_NARROW: 'invalid',
  INVALID_MESSAGE_RANGE: 'invalid',
  TOO_MANY_MESSAGES: 'invalid',
  UNKNOWN_FLAG: 'invalid',
  FLAG_NOT_EDITABLE: 'invalid',
  INVALID_FLAG_OPERATION: 'invalid',
  CANNOT_VIEW_FILE: 'forbidden',
  EDIT_HISTORY_DISABLED: 'forbidden',
  MESSAGE_EDITING_DISABLED: 'forbidden',
  CANNOT_EDIT_MESSAGE: 'forbidden',
  EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CANNOT_RESOLVE_TOPICS: 'forbidden',
  TOPIC_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CHANNEL_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  CANNOT_MOVE_MESSAGE: 'forbidden',
  MOVE_TIME_LIMIT_EXCEEDED: 'forbidden',
  TYPING_NOTIFICATIONS_DISABLED: 'forbidden',
  READ_RECEIPTS_DISABLED: 'forbidden',
  REPORT_TOO_LONG: 'invalid',
  REPORT_NEEDS_EXPLANATION: 'invalid',
  /** No channel takes reports. */
  REPORTS_DISABLED: 'forbidden',
  NO_MESSAGE_CHANGE: 'invalid',
  DIRECT_MESSAGE_HAS_NO_PLACE: 'invalid',
  INVALID_MOVE: 'invalid',
  CANNOT_RESOLVE_EMPTY_TOPIC: 'invalid',
  WIDGET_NOT_EDITABLE: 'invalid',
  TOO_MANY_MESSAGES_TO_MOVE: 'invalid',
  CANNOT_DELETE_MESSAGE: 'forbidden',
  DELETE_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The host application refused it. */
  MESSAGE_REFUSED: 'forbidden',
});

type MessageErrors = typeof MESSAGE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends MessageErrors {}

  interface ErrorDetails {
    /** One of them: the channel that a message goes to. */
    UNKNOWN_DESTINATION: { readonly channelName?: string; readonly channelId?: ChannelId };
    INVALID_NARROW: { readonly description: string };
    MOVE_TIME_LIMIT_EXCEEDED: {
      /** Null: none. */
      readonly firstMessageIdAllowedToMove: MessageId | null;
      readonly totalMessagesInTopic: number;
      readonly totalMessagesAllowedToMove: number;
    };
  }
}

/** Whom messages are addressed to: a channel, or the people of one direct conversation. */
export type Recipient =
  | { readonly kind: 'channel'; readonly id: RecipientId; readonly realmId: RealmId; readonly channelId: ChannelId }
  | {
      readonly kind: 'direct';
      readonly id: RecipientId;
      readonly realmId: RealmId;
      /** Everybody in it, ascending; one person talking to themselves is alone. */
      readonly userIds: readonly UserId[];
    };

/** How a conversation is named to one of its people: each once and ascending, without them unless they are alone. */
export function otherParticipants(userIds: readonly UserId[], userId: UserId): readonly UserId[] {
  const ids = [...new Set(userIds)].sort((a, b) => a - b);
  return ids.length > 1 ? ids.filter((id) => id !== userId) : ids;
}

export interface RecipientReads {
  /** Unknown ids are absent. */
  list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>>;
  /** The conversation of exactly these people (in any order), with messages or without; null when it was never opened. */
  findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null>;
  /**
   * Direct conversations that both users take part in, of at least so many people; the same user twice: all of theirs.
   * Ascending. Costs by the conversations of the first one.
   */
  listDirectWith(
    realmId: RealmId,
    userId: UserId,
    otherId: UserId,
    atLeastUsers: number,
  ): Promise<readonly RecipientId[]>;
  /** The first `limit` direct conversations with an id above `after`; ascending. */
  listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]>;
  /** The user's direct conversations that have messages, the one with the newest message first. */
  listRecentDirect(
    realmId: RealmId,
    userId: UserId,
    limit: number,
  ): Promise<readonly { readonly recipientId: RecipientId; readonly lastMessageId: number }[]>;
}

/** Every implementation passes recipient-repository.contract.ts. */
export interface RecipientRepository extends RecipientReads {
  /** Finds the conversation or opens it: its people receive everything sent to it from the first message on. */
  openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    recipients: [reads: RecipientReads, repository: RecipientRepository];
  }
}

/** What is found in a message's text when it is sent, by the operand of `has` that asks for it (messages §7.2). */
const FOUND_IN_TEXT = { attachment: 'hasAttachment', image: 'hasImage', link: 'hasLink' } as const;

/** What comes to a message later, and goes; a new message has none of it. */
const ADDED_LATER = { reaction: 'hasReactions' } as const;

export const HAS_OPERANDS = { ...FOUND_IN_TEXT, ...ADDED_LATER } as const;

/** What a message has, whoever looks. */
export type HasProperty = (typeof HAS_OPERANDS)[keyof typeof HAS_OPERANDS];
export type LaterProperty = (typeof ADDED_LATER)[keyof typeof ADDED_LATER];

export const MESSAGE_PROPERTIES = [...Object.values(HAS_OPERANDS), 'isResolved'] as const;
/** What a message is to everybody; `isResolved`: its topic is marked as resolved. */
export type MessageProperty = (typeof MESSAGE_PROPERTIES)[number];

type Reads = Repositories | Transaction;

/** Users are never deleted, so that there always is one; bots of the system are found as well. */
export async function loadSender(
  { users }: Pick<Reads, 'users'>,
  { realmId, senderId }: Pick<Message, 'realmId' | 'senderId'>,
): Promise<User> {
  // People are mostly in memory.
  const person = await users.find(realmId, senderId);
  return person ?? (await users.list(realmId, [senderId]))[0]!;
}

/** Everybody in the direct conversation that the message is part of, ascending; null: it is in a channel. */
export async function participantIdsOf(
  { recipients }: Pick<Reads, 'recipients'>,
  { realmId, recipientId }: Pick<Message, 'realmId' | 'recipientId'>,
): Promise<readonly UserId[] | null> {
  const recipient = (await recipients.list(realmId, [recipientId])).get(recipientId);
  return recipient?.kind === 'direct' ? recipient.userIds : null;
}

/** A user as messages name them; everything that differs by who looks is derived from it. */
export interface UserSummary extends EmailOwner {
  readonly fullName: string;
  readonly email: string;
  readonly avatar: Avatar;
  readonly isSystemBot: boolean;
}

/** Something attached to a message for clients to draw: a poll, and every vote in it. */
export interface Submessage {
  readonly id: number;
  readonly messageId: MessageId;
  readonly senderId: UserId;
  /** `widget` from every client there is. */
  readonly kind: string;
  /** JSON, as it was sent. */
  readonly content: string;
}

/**
 * What features show with a message, in plain JSON values; absent where a message has nothing of it. A feature adds its own by
 * declaration merging, beside its entity.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface MessageParts {}

/** What searches mark of a message. */
export type MessageText = Pick<Message, 'id' | 'topic' | 'renderedContent'>;

/** A message with all that is shown of it, whoever looks. */
export interface MessageView extends MessageParts {
  readonly message: Message;
  readonly sender: UserSummary;
  /** Ascending id. */
  readonly submessages: readonly Submessage[];
  readonly conversation:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly name: string }
    /** Everybody in it, ascending id. */
    | { readonly kind: 'direct'; readonly participants: readonly UserSummary[] };
}

export function userSummary(user: User): UserSummary {
  return {
    id: user.id,
    fullName: user.fullName,
    email: user.email,
    emailVisibility: emailVisibilityOf(user),
    avatar: user.avatar,
    isSystemBot: user.bot?.isSystem ?? false,
  };
}

/** A time in which somebody received what was sent to a recipient. Upper bounds are exclusive, null while it lasts. */
export interface Span {
  readonly recipientId: RecipientId;
  readonly fromOrdinal: Ordinal;
  readonly toOrdinal: Ordinal | null;
  /** Among the numbers of `ChannelMove`. */
  readonly fromMove: number;
  readonly toMove: number | null;
}

/** A message was moved to another channel. */
export interface ChannelMove {
  /** Later moves have higher numbers. */
  readonly number: number;
  readonly targetRecipientId: RecipientId;
  /** Whether the target's newcomers cannot read what was sent before they came. */
  readonly isHistoryProtected: boolean;
}

/**
 * How a message is somebody's own, as far as spans and moves say. `received`: sent to them, with the read state of their
 * read set. `gained`: a move brought it to them, read.
 */
export type Ownership = 'received' | 'gained' | 'none';

/**
 * Whoever subscribes to the channel that a message is moved to keeps it, and where that channel's history is protected, gets it
 * if they do not have it; everybody else loses it. `spans` are all of one user's, of the recipient the message was sent to
 * and of the moves' targets at least; `moves` are in order.
 */
export function ownershipOf(
  spans: readonly Span[],
  sent: { readonly recipientId: RecipientId; readonly ordinal: Ordinal },
  moves: readonly ChannelMove[],
): Ownership {
  let ownership: Ownership = wasReceived(spans, sent.recipientId, sent.ordinal) ? 'received' : 'none';
  for (const move of moves) {
    if (!wasSubscribedAt(spans, move.targetRecipientId, move.number)) ownership = 'none';
    else if (ownership === 'none' && move.isHistoryProtected) ownership = 'gained';
  }
  return ownership;
}

export function wasReceived(spans: readonly Span[], recipientId: RecipientId, ordinal: Ordinal): boolean {
  return spans.some(
    (span) =>
      span.recipientId === recipientId &&
      span.fromOrdinal <= ordinal &&
      (span.toOrdinal === null || ordinal < span.toOrdinal),
  );
}

function wasSubscribedAt(spans: readonly Span[], recipientId: RecipientId, move: number): boolean {
  return spans.some(
    (span) => span.recipientId === recipientId && span.fromMove <= move && (span.toMove === null || move < span.toMove),
  );
}

export interface MessageReads {
  find(realmId: RealmId, id: MessageId): Promise<Message | null>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]>;
  /** Of a message; `authorId`: who sent it. */
  summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary>;
  /** When each was sent. Unknown ids are absent; ascending id. */
  listTimes(
    realmId: RealmId,
    ids: readonly MessageId[],
  ): Promise<readonly { readonly id: MessageId; readonly sentAt: UnixSeconds }[]>;
  /** The oldest `limit` that are there now, with ids below `before`; null: any. Ascending. */
  listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before?: MessageId | null,
  ): Promise<readonly MessageId[]>;
}

/** What rules about submessages ask of those there are. */
export interface SubmessageSummary {
  readonly count: number;
  /** Of all their texts together, in code points. */
  readonly length: number;
  /** The oldest one; null: there is none. */
  readonly first: Submessage | null;
  /** Whether one of them is by the message's author. */
  readonly hasOfAuthor: boolean;
}

/** Writes messages. Every implementation passes message-repository.contract.ts. */
export interface MessageRepository extends MessageReads {
  /**
   * Gives the message its id and ordinal. Whoever has an open span of the recipient has received it by that; nothing is
   * written for each of them.
   */
  append(message: NewMessage): Promise<Message>;
  /** Replaces its text, and with it whom it names; what anybody has read stays read. Unknown ids are left out. */
  edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void>;
  /** Shows something else in the place of what was made of the same text, which is no edit. Unknown ids are left out. */
  rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void>;
  /** Shown with the message from now on. */
  addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage>;
  /** With every personal row and submessage. Returns the ids that were there, ascending. */
  remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    messages: [reads: MessageReads, repository: MessageRepository];
  }
}
