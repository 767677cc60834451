import type { ChannelId, MessageId, UserId } from '../kernel/ids.js';
import type { UserSummary } from './message-view.js';

export type TypingOp = 'start' | 'stop';

export interface TypingEventTypes {
  /** To those in the conversation (events §7.4). */
  'typing.changed': {
    readonly op: TypingOp;
    readonly sender: UserSummary;
    readonly to:
      | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
      /** Everybody in the conversation, the sender included; in the order in which the sender named them. */
      | { readonly kind: 'direct'; readonly people: readonly UserSummary[] };
  };
  /** To the same, of a message that its sender edits. */
  'typing.editing': {
    readonly op: TypingOp;
    readonly senderId: UserId;
    readonly messageId: MessageId;
    readonly to:
      | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
      | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };
  };
}

declare module '../kernel/event.js' {
  interface EphemeralEventTypes extends TypingEventTypes {}
}
