import type { ChannelId, MessageId, UserId } from '../kernel/ids.js';
import type { EmailOwner } from '../users/email-visibility.js';
import type { Avatar } from '../users/user.js';
import type { Message } from './message.js';

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
