import type { TopicVisibility } from '../channels/topic-policies.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { MessageView, SentFlags, Submessage } from './message.js';

export interface MessageEventTypes {
  /**
   * Sent to the participants of a direct conversation, or to channel subscribers and mentioned bots. Queues with all
   * public channels also receive messages of public channels (events §1).
   */
  'message.sent': {
    readonly view: MessageView;
    readonly isPublic: boolean;
    /** Users with flags that differ from the default. */
    readonly exceptions: readonly (readonly [UserId, ReceivedFlags])[];
    /** Topic visibility, before the message, of users whom it made follow the topic; absent if there are none. */
    readonly replacedTopicPolicies?: readonly (readonly [UserId, TopicVisibility])[];
    /** Lets the sending client recognize its own message. */
    readonly echo: { readonly queueId: string; readonly localId: string } | null;
  };
  /** Sent to message watchers (messages §18.6). */
  'message.submessage_added': { readonly submessage: Submessage };
  /** Sent to the owner of the flags. */
  'message.flag_changed': {
    readonly op: 'add' | 'remove';
    readonly flag: 'read' | 'starred' | 'collapsed';
    readonly messageIds: readonly MessageId[];
    /** True if all messages were marked; the list is then empty. */
    readonly all: boolean;
    /** Locations of messages that became unread. */
    readonly details: readonly (readonly [MessageId, MessageLocation])[];
  };
  /**
   * Sent to watchers at the new location, and to other users who could see the messages and still can (messages §18.2).
   */
  'message.updated': {
    readonly userId: UserId;
    /** Edited message, or message that the move was requested from. */
    readonly messageId: MessageId;
    /** Moved messages, including at least `messageId`; ascending. */
    readonly messageIds: readonly MessageId[];
    readonly editedAt: UnixSeconds;
    /** Previous channel; null for direct messages. The name is null for receivers who cannot see the channel. */
    readonly channel: { readonly id: ChannelId; readonly name: string | null } | null;
    /** Null if the messages were not moved. */
    readonly move: {
      readonly propagation: MovePropagation;
      readonly previousTopic: string;
      /** Null if the topic did not change. */
      readonly topic: { readonly name: string; readonly links: readonly TopicLink[] } | null;
      /** Null if the messages stay in their channels. */
      readonly channelId: ChannelId | null;
    } | null;
    /** Null if the text did not change. */
    readonly text: {
      /** Markdown and its rendered HTML. */
      readonly previous: { readonly content: string; readonly rendered: string };
      readonly present: { readonly content: string; readonly rendered: string };
      readonly isMeMessage: boolean;
    } | null;
    /** True if each receiver is sent only the messages they have. */
    readonly onlyToHolders: boolean;
  };
  /** Sent to users who have the message when a pending part becomes ready; the text is unchanged (messages §18.2). */
  'message.rerendered': {
    readonly messageId: MessageId;
    readonly at: UnixSeconds;
    /** Markdown and its rendered HTML. */
    readonly content: string;
    readonly rendered: string;
  };
  /** Sent to watchers, and to users who lost access through a move. */
  'message.deleted': {
    /** Ascending; at most MAX_MESSAGES_OF_DELETION. */
    readonly messageIds: readonly MessageId[];
    /** Previous channel; null for direct messages. */
    readonly channelId: ChannelId | null;
    readonly topic: string;
    /** True if each receiver is sent only the messages they have. */
    readonly onlyToHolders: boolean;
  };
}

/** Scope of a move: one message, that message and all later ones, or the whole topic. */
export type MovePropagation = 'one' | 'later' | 'all';

/** Limit for clients that need one event per message (architecture §4). */
export const MAX_MESSAGES_OF_DELETION = 500;

/** Flags of a message on arrival. */
export interface ReceivedFlags extends SentFlags {
  readonly read?: boolean;
}

export type MessageLocation =
  | {
      readonly kind: 'channel';
      readonly channelId: ChannelId;
      readonly topic: string;
      readonly isUnmuted: boolean;
      readonly isMentioned: boolean;
    }
  /** Other participants, ascending; empty for a conversation with oneself. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[]; readonly isMentioned: boolean };

declare module '../kernel/feature-types.js' {
  interface DomainEventTypes extends MessageEventTypes {}
}

export const MESSAGE_FEATURE = {
  eventFormats: {
    'message.sent': 3,
    'message.submessage_added': 1,
    'message.flag_changed': 2,
    'message.updated': 2,
    'message.rerendered': 1,
    'message.deleted': 2,
  },
  notExported: {
    archive: 'Deleted messages stay deleted.',
    botTriggers: 'The original server delivers queued messages.',
    edits: 'They are read with messages.',
    moves: 'They change messages.',
    searchIndex: 'It follows from messages.',
    topics: 'They follow from messages.',
  },
} satisfies FeatureParts<MessageEventTypes>;
