import type { MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { TopicReads, TopicSummary, Viewer } from '@parley/domain/messages';
import { SentSince } from '../channels/sent-since.js';
import type { MaybePromise, Statements } from '../engine/statements.js';

/** Last message of a topic, with its spelling of the topic. */
export type LastInTopic = readonly [key: string, id: MessageId, topic: string];
export type NewestInTopic = readonly [key: string, id: MessageId];

export abstract class SqlTopicReads implements TopicReads {
  private readonly sentSince: SentSince;
  private readonly anyMessage;
  private readonly anyInTopic;
  private readonly anyNamedTopic;
  private readonly newestInTopics;
  private readonly topicSenders;
  private readonly topicNames;

  constructor(private readonly statements: Statements) {
    this.sentSince = new SentSince(statements);

    const { inSet, elements, indexedBy } = statements.dialect;
    const byTopic = indexedBy('message_by_topic');
    // The recipient has the realm, so that entries of the index suffice.
    const inRealm = 'AND EXISTS (SELECT 1 FROM recipient r WHERE r.id = m.recipient_id AND r.realm_id = ?)';
    this.anyMessage = statements.values<1>(`SELECT 1 FROM message m WHERE m.recipient_id = ? ${inRealm} LIMIT 1`);
    this.anyInTopic = statements.values<1>(
      `SELECT 1 FROM message m ${byTopic} WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} LIMIT 1`,
    );
    this.anyNamedTopic = statements.values<1>(
      `SELECT 1 FROM message m ${byTopic} WHERE m.recipient_id = ? AND m.topic_key > '' ${inRealm} LIMIT 1`,
    );
    this.newestInTopics = statements.tuples<NewestInTopic>(
      `SELECT key, id FROM (
         SELECT topic.value AS key, (
           SELECT max(m.id) FROM message m ${byTopic}
           WHERE m.recipient_id = r.id AND m.topic_key = topic.value) AS id
         FROM recipient r CROSS JOIN (SELECT value FROM ${elements('text')}) AS topic
         WHERE r.id = ? AND r.realm_id = ?) AS newest
       WHERE id IS NOT NULL`,
    );
    this.topicSenders = statements.values<UserId>(
      `SELECT DISTINCT m.sender_id FROM message m ${byTopic}
       WHERE m.recipient_id = ? AND m.topic_key = ? ${inRealm} ORDER BY m.sender_id`,
    );
    this.topicNames = statements.tuples<readonly [MessageId, string]>(
      `SELECT id, topic FROM message WHERE id ${inSet}`,
    );
  }

  /** Returns the last message of each topic, newest first. */
  protected abstract lastInTopics(realmId: RealmId, recipientId: RecipientId): MaybePromise<readonly LastInTopic[]>;

  /**
   * Returns the viewer's newest message per topic key. `newest` holds the last message of each topic, which usually
   * belongs to the viewer already.
   */
  protected abstract newestOwn(
    viewer: Viewer,
    recipientId: RecipientId,
    newest: readonly NewestInTopic[],
  ): MaybePromise<ReadonlyMap<string, MessageId>>;

  /** Counts the messages with ids of at least `first` per recipient. Recipients without such messages may be absent. */
  protected abstract countFrom(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    first: number,
  ): MaybePromise<readonly (readonly [RecipientId, number])[]>;

  async countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: UnixSeconds,
  ): Promise<ReadonlyMap<RecipientId, number>> {
    const counts = new Map<RecipientId, number>();
    const add = async (first: number, sign: 1 | -1) => {
      for (const [id, count] of await this.countFrom(realmId, recipientIds, first)) {
        counts.set(id, (counts.get(id) ?? 0) + sign * count);
      }
    };
    for (const { first, last } of await this.sentSince.ranges(realmId, since)) {
      await add(first, 1);
      if (last < Number.MAX_SAFE_INTEGER) await add(last + 1, -1);
    }
    return new Map([...counts].filter(([, count]) => count > 0));
  }

  async hasMessages(realmId: RealmId, recipientId: RecipientId, key?: string): Promise<boolean> {
    const found =
      key === undefined ? this.anyMessage.get(recipientId, realmId) : this.anyInTopic.get(recipientId, key, realmId);
    return (await found) !== undefined;
  }

  async hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean> {
    return (await this.anyNamedTopic.get(recipientId, realmId)) !== undefined;
  }

  async listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return new Map(await this.newestInTopics.all(this.statements.dialect.set(keys), recipientId, realmId));
  }

  async listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    const { set } = this.statements.dialect;
    const newest = await this.newestInTopics.all(set(new Set(keys)), recipientId, viewer.realmId);
    return this.newestOwn(viewer, recipientId, newest);
  }

  async listTopicSenders(realmId: RealmId, recipientId: RecipientId, key: string): Promise<readonly UserId[]> {
    return this.topicSenders.all(recipientId, key, realmId);
  }

  async listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const rows = await this.lastInTopics(realmId, recipientId);
    return rows.map(([, maxMessageId, name]) => ({ name, maxMessageId }));
  }

  async listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    const topics = await this.lastInTopics(viewer.realmId, recipientId);
    const newestOwn = await this.newestOwn(
      viewer,
      recipientId,
      topics.map(([key, id]) => [key, id]),
    );
    const summaries: TopicSummary[] = [];
    const older: MessageId[] = [];
    for (const [key, id, name] of topics) {
      const maxMessageId = newestOwn.get(key);
      if (maxMessageId === id) summaries.push({ name, maxMessageId });
      else if (maxMessageId !== undefined) older.push(maxMessageId);
    }
    if (older.length > 0)
      for (const [maxMessageId, name] of await this.topicNames.all(this.statements.dialect.set(older)))
        summaries.push({ name, maxMessageId });
    return summaries.sort((a, b) => b.maxMessageId - a.maxMessageId);
  }
}
