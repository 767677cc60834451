import type { MessageId, RealmId, RecipientId, UserId } from '../kernel/ids.js';
import type { Viewer } from './message-page-reads.js';

export interface TopicSummary {
  /** As last spelt. */
  readonly name: string;
  readonly maxMessageId: MessageId;
}

/** What is said in channels, topic by topic. Every implementation passes topic-reads.contract.ts. */
export interface TopicReads {
  /** In the topic, or anywhere in the channel or conversation. */
  hasMessages(realmId: RealmId, recipientId: RecipientId, topicKey?: string): Promise<boolean>;
  /** Whether anything in the channel was sent to a topic that has a name. */
  hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean>;
  /** By topic key: the newest message of each of these topics; topics without any are absent. Costs by the topics named. */
  listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** The same over only those messages that are the viewer's own. */
  listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** Everybody who has sent something to the topic; ascending. Costs by the messages of the topic. */
  listTopicSenders(realmId: RealmId, recipientId: RecipientId, topicKey: string): Promise<readonly UserId[]>;
  /** Spellings that differ only in case are one topic; newest message first. Costs by topics, not by messages. */
  listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** The same over only those messages that are the viewer's own. */
  listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** How many were sent to each recipient since then; recipients without any are absent. */
  countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    topics: [reads: TopicReads, repository: TopicReads];
  }
}
