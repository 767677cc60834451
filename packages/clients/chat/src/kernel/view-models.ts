import type { Reaction, Submessage } from '@parley/client';
import type { Destination, Narrow } from './narrow.js';
import type { Reading } from './reactive.js';

/** Unread counts of a list row. */
export interface UnreadCount {
  /** Excludes muted topics and channels, unless the row itself is muted. */
  readonly count: number;
  readonly hasMention: boolean;
}

/** Channel in the sidebar and in headings. */
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
  /** Display name without the resolved mark; topics without a name use the organization's name for them. */
  readonly title: string;
  readonly isResolved: boolean;
  readonly policy: TopicPolicy;
  /** True if its messages do not count as unread, because the topic or its channel is muted. */
  readonly isMuted: boolean;
  /** Newest known message. */
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** A direct conversation. */
export interface DirectRow {
  /** Ids of the other participants, joined by commas; empty for notes to oneself. */
  readonly key: string;
  readonly userIds: readonly number[];
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** Conversation in a list. */
export interface ConversationRow {
  readonly key: string;
  readonly destination: Destination;
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

/** Channels under one heading. */
export interface ChannelGroup {
  /** Folder id. `all`: grouping is off. `other`: channels without a folder. */
  readonly key: 'all' | 'pinned' | 'other' | number;
  /** Folder name; empty for the other groups. */
  readonly name: string;
  readonly channelIds: readonly number[];
}

interface InboxGroup extends Omit<ChannelGroup, 'channelIds'> {
  readonly channels: readonly { readonly channelId: number; readonly topics: readonly ConversationRow[] }[];
}

export interface RecentRow extends ConversationRow {
  /** Unix seconds; null if unknown. */
  readonly lastMessageAt: number | null;
}

/** Unread conversations: direct conversations first, then topics by channel. */
export interface Inbox {
  readonly directs: readonly ConversationRow[];
  readonly groups: readonly InboxGroup[];
}

/** Person or bot. Unknown people have the name and avatar of their messages. */
export interface PersonRow {
  readonly id: number;
  readonly name: string;
  /** Null if the avatar is served by `/avatar/{id}`. */
  readonly avatarUrl: string | null;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  readonly isActive: boolean;
  /** False for people hidden from the user. */
  readonly isKnown: boolean;
  readonly isMuted: boolean;
  readonly presence: 'active' | 'idle' | 'offline';
  readonly statusText: string;
  readonly statusEmoji: { readonly name: string; readonly code: string; readonly type: string } | null;
}

/** Profile details of a person or bot. */
export interface PersonCard {
  readonly role: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest';
  /** Null if hidden from the user. */
  readonly email: string | null;
  /** IANA name; empty if unknown. */
  readonly timeZone: string;
  /** Time in ISO 8601. */
  readonly joinedAt: string;
  /** Unix seconds; null if unknown. */
  readonly lastSeenAt: number | null;
  /** Owner of a bot. */
  readonly ownerId: number | null;
  readonly profile: readonly ProfileRow[];
}

/** Profile field value; exactly one of `html`, `userIds` and `text` is shown. */
export interface ProfileRow {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly html: string | null;
  /** Link target of the text. */
  readonly url: string | null;
  readonly userIds: readonly number[];
  /** True if the text is a date such as 2000-01-31. */
  readonly isDate: boolean;
}

/** Reactions that use the same emoji. */
export interface ReactionRow {
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: Reaction['reaction_type'];
  readonly userIds: readonly number[];
  readonly isOwn: boolean;
}

/**
 * Delivery state. `sent`: stored on the server. `waiting`: offline, or queued behind earlier messages. `failed`: stays
 * in the list with `failure`.
 */
export type Delivery = 'sent' | 'sending' | 'waiting' | 'failed';

/** Own message that may not have reached the server. */
export interface OutgoingMessage {
  /** Key in lists, sent as `local_id` to the API. */
  readonly key: string;
  /** Queue of the first attempt; lets the server recognize retries (messages §3). */
  readonly queueId: string | null;
  readonly destination: Destination;
  readonly content: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly delivery: Exclude<Delivery, 'sent'>;
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** Id returned by the server, until the message arrives as an event. */
  readonly id: number | null;
}

/** Message in a list. */
export interface MessageRow {
  /** Stable key that does not change when an own message gets its server id. */
  readonly key: string;
  /** Null until the server has stored the message. */
  readonly id: number | null;
  readonly sender: { readonly id: number; readonly name: string; readonly avatarUrl: string | null };
  readonly destination: Destination;
  /** Unix seconds. */
  readonly timestamp: number;
  /** HTML rendered by the server; null for own unrendered messages, which show `markdown`. */
  readonly html: string | null;
  /** Markdown source, if known. */
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
  /** Data of the application that embeds the chat; null if it was never set. */
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly delivery: Delivery;
  /** Error message and code from the server. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** State of one end of a message list. `none`: no further messages. */
export type ListEnd = 'unknown' | 'more' | 'loading' | 'failed' | 'none';

/** Text and topic of a search hit as HTML with highlighted search words. */
export interface SearchMatch {
  readonly content: string;
  readonly subject: string;
}

/** Messages of a narrow. Release it with `close`. */
export interface ConversationView {
  readonly narrow: Narrow;
  /** Destination for new messages; null if the narrow covers several. */
  readonly destination: Destination | null;
  /** Message keys, oldest first; `Chat.message(key)` returns the rows. */
  readonly keys: Reading<readonly string[]>;
  readonly older: Reading<ListEnd>;
  readonly newer: Reading<ListEnd>;
  /** Message at which the list opens; null for the end of the list. */
  readonly anchor: Reading<number | null>;
  /** First unread message when the list was opened; the "New" line stays above it. */
  readonly firstUnread: Reading<number | null>;
  /** New place of the conversation after all its messages were moved. */
  readonly movedTo: Reading<Destination | null>;
  /** Conversation that now contains the anchor message or the message of the `with` term, if it was moved. */
  readonly elsewhere: Reading<Destination | null>;
  /** Error that prevented loading. */
  readonly failure: Reading<{ readonly code: string; readonly message: string } | null>;
  /** True for a search that may miss older messages, because the server is indexing them. */
  readonly isIncomplete: Reading<boolean>;
  /** Search text to try instead of one that finds nothing because of a misspelled word; null if there is none. */
  readonly proposal: Reading<string | null>;
  /** Highlights of a search hit; null elsewhere. Observed inside computations. */
  match(messageId: number): SearchMatch | null;
  loadOlder(): Promise<void>;
  loadNewer(): Promise<void>;
  /** Drops all but the newest messages if the end of the list is shown. Dropped messages are refetched on demand. */
  keepNewest(count: number): void;
  /** Scrolls to another message, or to the newest. */
  goTo(messageId: number | 'newest'): Promise<void>;
  /** Cancels a pending `goTo`, because the reader continued scrolling. */
  stay(): void;
  /** Reports messages visible for long enough; marks them as read if the settings allow it. */
  seen(messageIds: readonly number[]): void;
  /** Marks a message and all later ones as unread. The list then marks nothing as read until it is reopened. */
  markUnreadFrom(messageId: number): Promise<void>;
  close(): void;
}

/** Connection to the server. */
export interface ConnectionView {
  readonly state: 'starting' | 'online' | 'offline' | 'ended';
  /** Unix milliseconds when the connection was lost. */
  readonly since: number | null;
  /** Reason why the log-in has ended: `UNAUTHORIZED`, `USER_DEACTIVATED` or `REALM_DEACTIVATED`; null otherwise. */
  readonly code: string | null;
}
