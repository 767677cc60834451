import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { TopicLink } from '../markdown/markdown.js';
import type { MessageView, SentFlags, Submessage } from './message.js';

export interface MessageEventTypes {
  /**
   * To those in the conversation: who takes part in a direct one; subscribers of the channel and bots that are named. Queues
   * for all public channels get those of public channels beside them (events §1).
   */
  'message.sent': {
    readonly view: MessageView;
    readonly isPublic: boolean;
    /** Whose flags differ from those of everybody else. */
    readonly exceptions: readonly (readonly [UserId, ReceivedFlags])[];
    /** The sender's own client recognizes its message by it. */
    readonly echo: { readonly queueId: string; readonly localId: string } | null;
  };
  /** To those who watch the message (messages §18.6). */
  'message.submessage_added': { readonly submessage: Submessage };
  /** To the user whose flags they are. */
  'message.flag_changed': {
    readonly op: 'add' | 'remove';
    readonly flag: 'read' | 'starred' | 'collapsed';
    readonly messageIds: readonly MessageId[];
    /** Everything there is was marked; then the list is empty. */
    readonly all: boolean;
    /** For what became unread: where each message is. */
    readonly details: readonly (readonly [MessageId, MessageLocation])[];
  };
  /** To those who watch the messages where they are now, and to whoever else could see them and still can (messages §18.2). */
  'message.updated': {
    readonly userId: UserId;
    /** Whose text was changed, or whom the move was asked for. */
    readonly messageId: MessageId;
    /** All that were moved, and at least that one; ascending. */
    readonly messageIds: readonly MessageId[];
    readonly editedAt: UnixSeconds;
    /** Where they were; null for direct messages. */
    readonly channel: { readonly id: ChannelId; readonly name: string } | null;
    /** Null: they stay where they are. */
    readonly move: {
      readonly propagation: MovePropagation;
      readonly previousTopic: string;
      /** Null: they keep their topic. */
      readonly topic: { readonly name: string; readonly links: readonly TopicLink[] } | null;
      /** Null: they stay in their channel. */
      readonly channelId: ChannelId | null;
    } | null;
    /** Null: the text stays as it is. */
    readonly text: {
      /** Markdown, and the HTML made of it. */
      readonly previous: { readonly content: string; readonly rendered: string };
      readonly present: { readonly content: string; readonly rendered: string };
      readonly isMeMessage: boolean;
    } | null;
    /** Each receiver gets only those that they have. */
    readonly onlyToHolders: boolean;
  };
  /** To those who have the message: what it shows is ready, though its text is the same (messages §18.2). */
  'message.rerendered': {
    readonly messageId: MessageId;
    readonly at: UnixSeconds;
    /** Markdown, and the HTML made of it. */
    readonly content: string;
    readonly rendered: string;
  };
  /** To those who watch them, and to those who can no longer see them because they were moved. */
  'message.deleted': {
    /** Ascending; at most MAX_MESSAGES_OF_DELETION. */
    readonly messageIds: readonly MessageId[];
    /** Where they were; null for direct messages. */
    readonly channelId: ChannelId | null;
    readonly topic: string;
    /** Each receiver gets only those that they have. */
    readonly onlyToHolders: boolean;
  };
}

/** How much of a topic is moved: one message, that one and all newer ones, or all of it. */
export type MovePropagation = 'one' | 'later' | 'all';

/** Clients that want them one by one get as many events of one (architecture §4). */
export const MAX_MESSAGES_OF_DELETION = 500;

/** What a message is to a receiver when it arrives. */
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
  /** The others in the conversation, ascending; nobody when one talks to themselves. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[]; readonly isMentioned: boolean };

declare module '../kernel/event.js' {
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
    edits: 'They are read with messages.',
    moves: 'They change messages.',
    searchIndex: 'It follows from messages.',
    topics: 'They follow from messages.',
  },
} satisfies FeatureParts<MessageEventTypes>;
