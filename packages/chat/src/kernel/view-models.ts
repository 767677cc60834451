import type { Reaction, Submessage } from '@parley/client';
import type { Destination, Narrow } from './narrow.js';
import type { Reading } from './reactive.js';

/** Unread messages of a row. */
export interface UnreadCount {
  /** Without muted topics and channels, unless the row itself is muted. */
  readonly count: number;
  readonly hasMention: boolean;
}

/** A channel in the sidebar and in headings. */
export interface ChannelRow {
  readonly id: number;
  readonly name: string;
  readonly color: string;
  /** HTML. */
  readonly description: string;
  readonly privacy: 'public' | 'private' | 'web-public';
  readonly isSubscribed: boolean;
  readonly isMuted: boolean;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  readonly isActive: boolean;
  readonly folderId: number | null;
  readonly unread: UnreadCount;
}

/** Visibility policy of a topic; `none` inherits from the channel. */
export type TopicPolicy = 'none' | 'muted' | 'unmuted' | 'followed';

export interface TopicRow {
  readonly channelId: number;
  readonly name: string;
  /** Name to show: that of the organization for topics without a name; without the mark of resolved topics. */
  readonly title: string;
  readonly isResolved: boolean;
  readonly policy: TopicPolicy;
  /** True if its messages do not count, by its own policy or its channel's. */
  readonly isMuted: boolean;
  /** Newest known message. */
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** A direct conversation. */
export interface DirectRow {
  /** Ids of the others, joined by commas; empty for notes to oneself. */
  readonly key: string;
  readonly userIds: readonly number[];
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** A conversation in a list. */
export interface ConversationRow {
  readonly key: string;
  readonly destination: Destination;
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** Channels below one heading. */
export interface ChannelGroup {
  /** Id of a folder. `all`: nothing is grouped. `other`: channels without a folder. */
  readonly key: 'all' | 'pinned' | 'other' | number;
  /** Name of the folder; empty for others. */
  readonly name: string;
  readonly channelIds: readonly number[];
}

interface InboxGroup extends Omit<ChannelGroup, 'channelIds'> {
  readonly channels: readonly { readonly channelId: number; readonly topics: readonly ConversationRow[] }[];
}

export interface RecentRow extends ConversationRow {
  /** Unix seconds; null where it is not known. */
  readonly lastMessageAt: number | null;
}

/** Unread conversations: direct ones, then topics by channel. */
export interface Inbox {
  readonly directs: readonly ConversationRow[];
  readonly groups: readonly InboxGroup[];
}

/** A person or bot. People who are unknown to the user have the name and picture that messages carry. */
export interface PersonRow {
  readonly id: number;
  readonly name: string;
  /** Null for a picture by the address of the person's avatar: `/avatar/{id}`. */
  readonly avatarUrl: string | null;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  readonly isActive: boolean;
  /** False for people whom the user may not see. */
  readonly isKnown: boolean;
  readonly isMuted: boolean;
  readonly presence: 'active' | 'idle' | 'offline';
  readonly statusText: string;
  readonly statusEmoji: { readonly name: string; readonly code: string; readonly type: string } | null;
}

/** Further facts about a person or bot. */
export interface PersonCard {
  readonly role: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest';
  /** Null if the user may not see it. */
  readonly email: string | null;
  /** IANA name; empty if unknown. */
  readonly timeZone: string;
  /** Unix seconds; null if unknown. */
  readonly lastSeenAt: number | null;
  /** Owner of a bot. */
  readonly ownerId: number | null;
  readonly profile: readonly ProfileRow[];
}

/** Value of a profile field; exactly one of `html`, `userIds` and `text` is shown. */
export interface ProfileRow {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly html: string | null;
  /** Address to which the text leads. */
  readonly url: string | null;
  readonly userIds: readonly number[];
  /** True if the text is a date such as 2000-01-31. */
  readonly isDate: boolean;
}

/** Reactions with one emoji. */
export interface ReactionRow {
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: Reaction['reaction_type'];
  readonly userIds: readonly number[];
  readonly isOwn: boolean;
}

/**
 * Delivery of a message: `sent` messages are on the server. `waiting`: the client is offline or sends earlier ones
 * first. `failed` messages stay in place with `failure`.
 */
export type Delivery = 'sent' | 'sending' | 'waiting' | 'failed';

/** Own message that the server may not have yet. */
export interface OutgoingMessage {
  /** Identity in lists, and `local_id` of the API. */
  readonly key: string;
  /** Queue of the first attempt, which identifies later attempts as the same message (messages §3). */
  readonly queueId: string | null;
  readonly destination: Destination;
  readonly content: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly delivery: Exclude<Delivery, 'sent'>;
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** Id that the server returned, until the message arrives as an event. */
  readonly id: number | null;
}

/** A message in a list. */
export interface MessageRow {
  /** Identity that stays when an own message gets its id from the server. */
  readonly key: string;
  /** Null until the server has the message. */
  readonly id: number | null;
  readonly sender: { readonly id: number; readonly name: string; readonly avatarUrl: string | null };
  readonly destination: Destination;
  /** Unix seconds. */
  readonly timestamp: number;
  /** The server's HTML; null for own messages that have not been rendered, which show `markdown`. */
  readonly html: string | null;
  /** Source, where it is known. */
  readonly markdown: string | null;
  readonly isMe: boolean;
  readonly isOwn: boolean;
  readonly isRead: boolean;
  readonly isStarred: boolean;
  readonly isMentioned: boolean;
  readonly hasAlertWord: boolean;
  readonly isCollapsed: boolean;
  readonly editedAt: number | null;
  readonly movedAt: number | null;
  readonly reactions: readonly ReactionRow[];
  readonly submessages: readonly Submessage[];
  readonly delivery: Delivery;
  /** Reason in the server's words, with its code. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** State of one end of a list of messages. `none`: no further messages. */
export type ListEnd = 'unknown' | 'more' | 'loading' | 'failed' | 'none';

/** Text and topic of a search hit as HTML, in which the words that were searched are marked. */
export interface SearchMatch {
  readonly content: string;
  readonly subject: string;
}

/** Messages of a narrow. Ends with `close`. */
export interface ConversationView {
  readonly narrow: Narrow;
  /** Destination of new messages; null for narrows of several. */
  readonly destination: Destination | null;
  /** Keys of messages, oldest first; `Chat.message(key)` has the rows. */
  readonly keys: Reading<readonly string[]>;
  readonly older: Reading<ListEnd>;
  readonly newer: Reading<ListEnd>;
  /** Message at which the list opens; null: its end. */
  readonly anchor: Reading<number | null>;
  /** First unread message when the list was opened, above which the "New" line stays. */
  readonly firstUnread: Reading<number | null>;
  /** Place to which the whole conversation was moved or renamed. */
  readonly movedTo: Reading<Destination | null>;
  /** Other conversation, in which the message is now at which the list was opened, or that `with` names. */
  readonly elsewhere: Reading<Destination | null>;
  /** Reason why the messages could not be loaded. */
  readonly failure: Reading<{ readonly code: string; readonly message: string } | null>;
  /** Marks of a search hit; null elsewhere. Observed inside computations. */
  match(messageId: number): SearchMatch | null;
  loadOlder(): Promise<void>;
  loadNewer(): Promise<void>;
  /** Forgets all but the newest messages while their end is shown; the others are fetched again when they are needed. */
  keepNewest(count: number): void;
  /** Opens the list at another message, or at the newest. */
  goTo(messageId: number | 'newest'): Promise<void>;
  /** Gives up a `goTo` that has not shown its place yet, since the reader went on reading. */
  stay(): void;
  /** Reports messages that were visible long enough; marks them as read where the settings want that. */
  seen(messageIds: readonly number[]): void;
  /** Marks a message and all after it as unread, and nothing as read until the list is opened again. */
  markUnreadFrom(messageId: number): Promise<void>;
  close(): void;
}

/** Connection to the server. */
export interface ConnectionView {
  readonly state: 'starting' | 'online' | 'offline' | 'ended';
  /** Unix milliseconds at which the connection was lost. */
  readonly since: number | null;
  /** Set if `ended`: the code of the error, such as `UNAUTHORIZED`, `USER_DEACTIVATED`, `REALM_DEACTIVATED`. */
  readonly code: string | null;
}
