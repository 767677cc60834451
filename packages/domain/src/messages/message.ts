import { DomainError, declareErrors } from '../kernel/errors.js';
import type { HostData } from '../kernel/host-data.js';
import type { ChannelId, MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { isLongerThan, takeCodePoints, trimEnd } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import type { TopicLink } from '../markdown/markdown.js';
import { type EmailOwner, emailVisibilityOf } from '../users/accessible-users.js';
import type { Avatar, User } from '../users/user.js';

/** Message as stored, independent of any viewer. */
export interface Message extends Readonly<Record<HasProperty, boolean>> {
  readonly id: MessageId;
  readonly realmId: RealmId;
  readonly senderId: UserId;
  /** Original recipient and ordinal there, which never change. Receipt and read state depend on them. */
  readonly sentRecipientId: RecipientId;
  readonly ordinal: Ordinal;
  /** Current recipient. Listing and access depend on it. */
  readonly recipientId: RecipientId;
  /** Null for direct messages. */
  readonly channelId: ChannelId | null;
  /** `''` for direct messages and for the empty topic of channels. */
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
  /** True for a notice that arrives as read for all users it does not mention. */
  readonly isReadByDefault: boolean;
  /** True if the text or location ever changed. */
  readonly isEdited: boolean;
  /** True if the host application keeps data with the message. */
  readonly hasData: boolean;
  /** Time of the last text edit; null if never. */
  readonly lastEditedAt: UnixSeconds | null;
  /** Time of the last move; null if only the resolved mark changed. */
  readonly lastMovedAt: UnixSeconds | null;
  /** Incremented with every visible change of the message. */
  readonly version: number;
}

export type NewMessage = Omit<
  Message,
  | 'id'
  | 'sentRecipientId'
  | 'ordinal'
  | 'version'
  | 'isEdited'
  | 'hasData'
  | 'lastEditedAt'
  | 'lastMovedAt'
  | LaterProperty
> &
  /** Set for imported messages that changed before the import. */
  Partial<Pick<Message, 'isEdited' | 'lastEditedAt' | 'lastMovedAt'>> & {
    /** Receivers for whom the message is read from the start, usually the sender. */
    readonly readBy: readonly UserId[];
    /**
     * Users with a mention, a group mention or an alert word. Mentioned bots without an open span also receive the
     * message, unread by default.
     */
    readonly exceptions: ReadonlyMap<UserId, SentFlags>;
  };

/** Flags assigned on sending, beyond receipt. */
export interface SentFlags {
  readonly mentioned?: boolean;
  readonly topicWildcardMentioned?: boolean;
  readonly hasAlertWord?: boolean;
  /** True if the user receives it as unread although the message is read by default. */
  readonly unread?: boolean;
}

/** Fields changed by a text edit. */
export interface EditedText
  extends Pick<
    Message,
    'content' | 'renderedContent' | 'isMeMessage' | 'mentionsChannel' | 'hasLink' | 'hasImage' | 'hasAttachment'
  > {
  readonly editedAt: UnixSeconds;
  /** New mentions of users who have the message. Replaces all previous mentions. */
  readonly exceptions: ReadonlyMap<UserId, Omit<SentFlags, 'unread'>>;
}

/** Per-user state of a message. */
export interface PersonalFlags {
  readonly read: boolean;
  readonly starred: boolean;
  readonly collapsed: boolean;
  readonly mentioned: boolean;
  readonly channelWildcardMentioned: boolean;
  readonly topicWildcardMentioned: boolean;
  readonly hasAlertWord: boolean;
  /** True if taken from channel history without being received. */
  readonly historical: boolean;
}

/** Flags of a message in channel history that was never received (messages §5.4). */
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

/** Normalizes typed content (messages §3.2 row 7). @throws DomainError INVALID_MESSAGE_CONTENT */
export function parseContent(raw: string): string {
  const content = trimEnd(raw).replace(/^\n+/, '');
  if (content === '') throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not be empty');
  if (content.includes('\0')) throw new DomainError('INVALID_MESSAGE_CONTENT', 'Message must not contain null bytes');
  return cutContent(content, MAX_MESSAGE_LENGTH);
}

/** Truncates content to `max` code points, including the truncation notice. */
export const cutContent = (content: string, max: number): string =>
  isLongerThan(content, max) ? takeCodePoints(content, max - TRUNCATION_NOTICE.length) + TRUNCATION_NOTICE : content;

/**
 * Truncates generated Markdown as `cutContent` does, but never inside inline code: without its end, quoted text would
 * become Markdown, and could mention people.
 */
export function cutMarkdown(markdown: string, max: number): string {
  if (!isLongerThan(markdown, max)) return markdown;
  const kept = takeCodePoints(markdown, max - TRUNCATION_NOTICE.length);
  return kept.slice(0, openCodeStart(kept)) + TRUNCATION_NOTICE;
}

/** Returns the position of the inline code in the last line that has no end, or the length of the text. */
function openCodeStart(text: string): number {
  const lineStart = text.lastIndexOf('\n') + 1;
  let open: { readonly length: number; readonly at: number } | null = null;
  for (const { 0: run, index } of text.slice(lineStart).matchAll(/`+/g)) {
    if (open === null) open = { length: run.length, at: index };
    else if (open.length === run.length) open = null;
  }
  return open === null ? text.length : lineStart + open.at;
}

export const MESSAGE_ERRORS = declareErrors({
  /** The message does not exist, or the caller cannot see it. */
  UNKNOWN_MESSAGE: 'unknown',
  /** The topic does not exist. */
  UNKNOWN_TOPIC: 'unknown',
  /** The topic contains forbidden characters. */
  INVALID_TOPIC: 'invalid',
  /** Empty, or with null bytes. */
  INVALID_MESSAGE_CONTENT: 'invalid',
  /** The text takes too much work or space to render. */
  UNRENDERABLE_CONTENT: 'invalid',
  /** The widget of the message is invalid. */
  INVALID_WIDGET: 'invalid',
  /** The change to a poll or task list is invalid, or reserved for its author. */
  INVALID_SUBMESSAGE: 'invalid',
  /** Only the author may attach to the message. */
  CANNOT_ATTACH_SUBMESSAGE: 'forbidden',
  /** The message has too many submessages, or too much text in them. */
  TOO_MANY_SUBMESSAGES: 'conflict',
  /** The organization has too many runs of messages with a time in the past; `parley.imports.write` takes them together. */
  HISTORY_OUT_OF_ORDER: 'conflict',
  /** The target channel does not exist or is hidden; `channelName` or `channelId`. */
  UNKNOWN_DESTINATION: 'unknown',
  /** No channel is named, and the organization has no default. */
  CHANNEL_REQUIRED: 'invalid',
  /** No recipient is named. */
  RECIPIENTS_REQUIRED: 'invalid',
  /** The caller cannot access one of the recipients. */
  CANNOT_ACCESS_RECIPIENT: 'forbidden',
  /** The organization has no direct messages. */
  DIRECT_MESSAGES_DISABLED: 'forbidden',
  /** No participant may authorize the conversation. */
  CONVERSATION_NOT_AUTHORIZED: 'forbidden',
  /** The caller may not start conversations. */
  CANNOT_START_CONVERSATION: 'forbidden',
  /** The caller may not mention everyone in a large channel. */
  CHANNEL_WILDCARD_NOT_ALLOWED: 'forbidden',
  /** The caller may not mention everyone in a large topic. */
  TOPIC_WILDCARD_NOT_ALLOWED: 'forbidden',
  /** The narrow is invalid; `description`. */
  INVALID_NARROW: 'invalid',
  /** The range of messages is invalid. */
  INVALID_MESSAGE_RANGE: 'invalid',
  /** Too many messages in one request. */
  TOO_MANY_MESSAGES: 'invalid',
  /** The flag does not exist. */
  UNKNOWN_FLAG: 'invalid',
  /** Only the server changes this flag. */
  FLAG_NOT_EDITABLE: 'invalid',
  /** The operation is neither add nor remove. */
  INVALID_FLAG_OPERATION: 'invalid',
  /** The caller may read neither the file nor a message that refers to it. */
  CANNOT_VIEW_FILE: 'forbidden',
  /** The organization hides edit history. */
  EDIT_HISTORY_DISABLED: 'forbidden',
  /** The organization does not allow editing messages. */
  MESSAGE_EDITING_DISABLED: 'forbidden',
  /** The caller may not edit the message. */
  CANNOT_EDIT_MESSAGE: 'forbidden',
  /** The message is too old to edit. */
  EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The caller may not resolve topics here. */
  CANNOT_RESOLVE_TOPICS: 'forbidden',
  /** The message is too old to move to another topic. */
  TOPIC_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The message is too old to move to another channel. */
  CHANNEL_EDIT_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The caller may not move the message to another channel. */
  CANNOT_MOVE_MESSAGE: 'forbidden',
  /**
   * Some of the messages are too old to move; `firstMessageIdAllowedToMove`, `totalMessagesInTopic`,
   * `totalMessagesAllowedToMove`.
   */
  MOVE_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** The caller has disabled typing notifications. */
  TYPING_NOTIFICATIONS_DISABLED: 'forbidden',
  /** The organization has disabled read receipts. */
  READ_RECEIPTS_DISABLED: 'forbidden',
  /** The explanation of the report is too long. */
  REPORT_TOO_LONG: 'invalid',
  /** A report with the reason "other" needs an explanation. */
  REPORT_NEEDS_EXPLANATION: 'invalid',
  /** The organization has no channel for reports. */
  REPORTS_DISABLED: 'forbidden',
  /** The request would not change the message. */
  NO_MESSAGE_CHANGE: 'invalid',
  /** Direct messages have no channel and no topic. */
  DIRECT_MESSAGE_HAS_NO_PLACE: 'invalid',
  /** The parameters for text and move contradict each other. */
  INVALID_MOVE: 'invalid',
  /** The empty topic cannot be resolved. */
  CANNOT_RESOLVE_EMPTY_TOPIC: 'invalid',
  /** Messages with widgets cannot be edited. */
  WIDGET_NOT_EDITABLE: 'invalid',
  /** Too many messages to move in one request. */
  TOO_MANY_MESSAGES_TO_MOVE: 'invalid',
  /** The message is held and has the maximum number of edits, which are all kept. */
  TOO_MANY_EDITS: 'conflict',
  /** The caller may not delete the message. */
  CANNOT_DELETE_MESSAGE: 'forbidden',
  /** The message is too old to delete. */
  DELETE_TIME_LIMIT_EXCEEDED: 'forbidden',
  /** A hook of the host application (`parley.before`) refused the message. */
  MESSAGE_REFUSED: 'forbidden',
});

type MessageErrors = typeof MESSAGE_ERRORS;

/** Recipient of messages: a channel, or the participants of a direct conversation. */
export type Recipient =
  | { readonly kind: 'channel'; readonly id: RecipientId; readonly realmId: RealmId; readonly channelId: ChannelId }
  | {
      readonly kind: 'direct';
      readonly id: RecipientId;
      readonly realmId: RealmId;
      /** All participants, ascending; a single one for messages to oneself. */
      readonly userIds: readonly UserId[];
    };

/** Returns the participants as shown to one of them: distinct, ascending, and without that user unless alone. */
export function otherParticipants(userIds: readonly UserId[], userId: UserId): readonly UserId[] {
  const ids = [...new Set(userIds)].sort((a, b) => a - b);
  return ids.length > 1 ? ids.filter((id) => id !== userId) : ids;
}

export interface RecipientReads {
  /** Unknown ids are absent. */
  list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>>;
  /**
   * Finds the conversation of exactly these users (in any order), with or without messages; null if it was never
   * opened.
   */
  findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null>;
  /**
   * Lists direct conversations of both users with at least this many participants, ascending. Passing the same user
   * twice selects all conversations of that user. The cost depends on the conversations of the first user.
   */
  listDirectWith(
    realmId: RealmId,
    userId: UserId,
    otherId: UserId,
    atLeastUsers: number,
  ): Promise<readonly RecipientId[]>;
  /** Returns the first `limit` direct conversations with ids above `after`, ascending. */
  listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]>;
  /** Returns the user's direct conversations with messages, most recent first. */
  listRecentDirect(
    realmId: RealmId,
    userId: UserId,
    limit: number,
  ): Promise<readonly { readonly recipientId: RecipientId; readonly lastMessageId: number }[]>;
}

/** Every implementation passes recipient-repository.contract.ts. */
export interface RecipientRepository extends RecipientReads {
  /** Finds or opens the conversation. Its participants receive all of its messages from the first one on. */
  openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId>;
}

/** Properties found in the message text, keyed by the operand of `has` (messages §7.2). */
const FOUND_IN_TEXT = { attachment: 'hasAttachment', image: 'hasImage', link: 'hasLink' } as const;

/** Properties that change after sending; a new message has none of them. */
const ADDED_LATER = { reaction: 'hasReactions' } as const;

export const HAS_OPERANDS = { ...FOUND_IN_TEXT, ...ADDED_LATER } as const;

/** Viewer-independent `has` property of a message. */
export type HasProperty = (typeof HAS_OPERANDS)[keyof typeof HAS_OPERANDS];
export type LaterProperty = (typeof ADDED_LATER)[keyof typeof ADDED_LATER];

export const MESSAGE_PROPERTIES = [...Object.values(HAS_OPERANDS), 'isResolved'] as const;
/** Viewer-independent property of a message. `isResolved`: the topic is marked as resolved. */
export type MessageProperty = (typeof MESSAGE_PROPERTIES)[number];

type Reads = Repositories | Transaction;

/** Loads the sender, who always exists because users are never deleted; also finds system bots. */
export async function loadSender(
  { users }: Pick<Reads, 'users'>,
  { realmId, senderId }: Pick<Message, 'realmId' | 'senderId'>,
): Promise<User> {
  // Users are usually cached in memory.
  const person = await users.find(realmId, senderId);
  return person ?? firstOf(await users.list(realmId, [senderId]));
}

/** Returns all participants of the message's direct conversation, ascending; null for a channel message. */
export async function participantIdsOf(
  { recipients }: Pick<Reads, 'recipients'>,
  { realmId, recipientId }: Pick<Message, 'realmId' | 'recipientId'>,
): Promise<readonly UserId[] | null> {
  const recipient = (await recipients.list(realmId, [recipientId])).get(recipientId);
  return recipient?.kind === 'direct' ? recipient.userIds : null;
}

/** User data shown with messages, used to derive all viewer-dependent fields. */
export interface UserSummary extends EmailOwner {
  readonly fullName: string;
  readonly email: string;
  readonly avatar: Avatar;
  readonly isSystemBot: boolean;
  /** Id in the host application; absent if none was assigned. */
  readonly externalId?: string;
}

/** Attachment rendered by clients, such as a poll or a vote. */
export interface Submessage {
  readonly id: number;
  readonly messageId: MessageId;
  readonly senderId: UserId;
  /** Always `widget` in existing clients. */
  readonly kind: string;
  /** JSON as sent. */
  readonly content: string;
}

/**
 * Message view data added by features, as plain JSON; absent if a message has none. Features extend this interface by
 * declaration merging next to their entity.
 */
export interface MessageParts {
  readonly hostData?: HostData;
}

/** Message text for highlighting search matches. */
export type MessageText = Pick<Message, 'id' | 'topic' | 'renderedContent'>;

/** Message with all viewer-independent display data. */
export interface MessageView extends MessageParts {
  readonly message: Message;
  readonly sender: UserSummary;
  /** Ascending id. */
  readonly submessages: readonly Submessage[];
  readonly conversation:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly name: string }
    /** All participants by ascending id. */
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
    ...(user.externalId !== undefined && { externalId: user.externalId }),
  };
}

/** Period in which a user receives messages of a recipient. Upper bounds are exclusive; null while the span is open. */
export interface Span {
  readonly recipientId: RecipientId;
  readonly fromOrdinal: Ordinal;
  readonly toOrdinal: Ordinal | null;
  /** Bounds of `ChannelMove.number`. */
  readonly fromMove: number;
  readonly toMove: number | null;
}

/** Move of a message to another channel or direct conversation. */
export interface ChannelMove {
  /** Increases with each move. */
  readonly number: number;
  readonly targetRecipientId: RecipientId;
  /** True if new subscribers of the target cannot read earlier messages, as in direct conversations. */
  readonly isHistoryProtected: boolean;
}

/**
 * Ownership derived from spans and moves. `received`: sent to the user, with read state in the read set. `gained`:
 * acquired through a move, as read.
 */
export type Ownership = 'received' | 'gained' | 'none';

/**
 * Decides ownership after moves. Subscribers of a move's target keep the message. With protected history, they also
 * gain it. All other users lose it. `spans`: all spans of one user for the original recipient and the targets; `moves`
 * is in order.
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
  /** Summarizes a message's submessages; `authorId` is the message's sender. */
  summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary>;
  /** Returns at most `limit` submessages that the user sent with ids above `after`, ascending. */
  listSubmessagesOf(realmId: RealmId, senderId: UserId, after: number, limit: number): Promise<readonly Submessage[]>;
  /** Returns sending times by ascending id; unknown ids are absent. */
  listTimes(
    realmId: RealmId,
    ids: readonly MessageId[],
  ): Promise<readonly { readonly id: MessageId; readonly sentAt: UnixSeconds }[]>;
  /** Returns when the message with the greatest id of all realms was sent. */
  latestSentAt(): Promise<UnixSeconds | null>;
  /** Returns the oldest `limit` existing ids below `before` (null: any), ascending. */
  listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before?: MessageId | null,
  ): Promise<readonly MessageId[]>;
  /** Returns users who mute the sender and therefore receive the sender's messages as read; ascending. */
  listMuters(realmId: RealmId, senderId: UserId): Promise<readonly UserId[]>;
}

/** Data about existing submessages needed by rules. */
export interface SubmessageSummary {
  readonly count: number;
  /** Total length of all contents in code points. */
  readonly length: number;
  /** Oldest submessage; null if there is none. */
  readonly first: Submessage | null;
  /** True if the message's author sent at least one of them. */
  readonly hasOfAuthor: boolean;
}

/** Writes messages. Every implementation passes message-repository.contract.ts. */
export interface MessageRepository extends MessageReads {
  /**
   * Assigns the id and ordinal. Users with an open span of the recipient receive the message without any per-user
   * write.
   */
  append(message: NewMessage): Promise<Message>;
  /** Replaces the text and its mentions but not the read state. Ignores unknown ids. */
  edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void>;
  /** Replaces the rendered content of an unchanged text, which does not count as an edit. Ignores unknown ids. */
  rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void>;
  /** Changes the sender of those messages that `from` sent, in a new version. Ignores other ids. */
  changeSender(realmId: RealmId, ids: readonly MessageId[], from: UserId, to: UserId): Promise<void>;
  /** Adds a submessage to the message view. */
  addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage>;
  /** Gives their messages a new version. */
  removeSubmessages(realmId: RealmId, submessages: readonly Pick<Submessage, 'id' | 'messageId'>[]): Promise<void>;
  /** Removes messages with all personal rows and submessages. Returns the ids that existed, ascending. */
  remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends MessageErrors {}

  interface ErrorDetails {
    /** Contains exactly one property, which identifies the target channel. */
    UNKNOWN_DESTINATION: { readonly channelName?: string; readonly channelId?: ChannelId };
    INVALID_NARROW: { readonly description: string };
    MOVE_TIME_LIMIT_EXCEEDED: {
      /** Null if no message may be moved. */
      readonly firstMessageIdAllowedToMove: MessageId | null;
      readonly totalMessagesInTopic: number;
      readonly totalMessagesAllowedToMove: number;
    };
  }
  interface RepositoryMap {
    recipients: [reads: RecipientReads, repository: RecipientRepository];
    messages: [reads: MessageReads, repository: MessageRepository];
  }
}
