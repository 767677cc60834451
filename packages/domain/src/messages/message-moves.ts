import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds } from '../kernel/ids.js';
import type { TopicLink } from '../markdown/markdown.js';

export interface MoveTarget {
  readonly channelId: ChannelId;
  readonly recipientId: RecipientId;
  /** Null: each keeps its own. */
  readonly topic: string | null;
  /** Of the topic. Absent: none. */
  readonly topicLinks?: readonly TopicLink[];
  /** Absent: the topic is only marked resolved or unresolved, which is no move to those who look. */
  readonly movedAt?: UnixSeconds;
  readonly isHistoryProtected: boolean;
}

/** Every implementation passes message-moves.contract.ts. */
export interface MessageMoves {
  /**
   * To another channel and topic, or only to another topic of the same channel. Moving between channels: those who are
   * not subscribed to the target lose the messages, and where `isHistoryProtected` its subscribers gain them, read.
   */
  move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    moves: [reads: never, repository: MessageMoves];
  }
}
