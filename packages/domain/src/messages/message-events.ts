import type { EventFormats } from '../events/event.js';
import type { ChannelId, MessageId, UserId } from '../shared/ids.js';
import type { SentFlags } from './message.js';
import type { MessageView, Submessage } from './message-view.js';

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
}

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

declare module '../events/event.js' {
  interface DomainEventTypes extends MessageEventTypes {}
}

export const MESSAGE_EVENT_FORMATS: EventFormats<MessageEventTypes> = {
  'message.sent': 3,
  'message.submessage_added': 1,
  'message.flag_changed': 1,
};
