import { topicKey } from '@parley/domain/channels';
import type { MessageId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Message, TopicReads, TopicSummary, Viewer } from '@parley/domain/messages';
import { messagesOf } from './messages-of.js';
import { findFlags } from './personal-rows.js';
import { ascending, type MemoryUnit } from './tables.js';

export class MemoryTopics implements TopicReads {
  constructor(private readonly unit: MemoryUnit) {}

  async hasMessages(realmId: RealmId, recipientId: RecipientId, key?: string): Promise<boolean> {
    return this.inTopic(realmId, recipientId, key).length > 0;
  }

  async hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean> {
    return this.inTopic(realmId, recipientId).some(({ topic }) => topic !== '');
  }

  async listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    return newestIn(keys, this.inTopic(realmId, recipientId));
  }

  async listNewestOwnInTopics(
    { realmId, userId }: Viewer,
    recipientId: RecipientId,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    const own = this.inTopic(realmId, recipientId).filter(({ id }) => findFlags(this.unit, userId, id));
    return newestIn(keys, own);
  }

  async listTopicSenders(realmId: RealmId, recipientId: RecipientId, key: string): Promise<readonly UserId[]> {
    const senders = new Set(this.inTopic(realmId, recipientId, key).map(({ senderId }) => senderId));
    return [...senders].sort(ascending);
  }

  async listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    return topicsOf(this.inTopic(realmId, recipientId));
  }

  async listOwnTopics({ realmId, userId }: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]> {
    return topicsOf(this.inTopic(realmId, recipientId).filter(({ id }) => findFlags(this.unit, userId, id)));
  }

  async countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>> {
    const counts = new Map<RecipientId, number>();
    for (const { recipientId, sentAt } of messagesOf(this.unit, realmId)) {
      if (sentAt < since || !recipientIds.includes(recipientId)) continue;
      counts.set(recipientId, (counts.get(recipientId) ?? 0) + 1);
    }
    return counts;
  }

  private inTopic(realmId: RealmId, recipientId: RecipientId, key?: string): Message[] {
    return messagesOf(this.unit, realmId).filter(
      (message) => message.recipientId === recipientId && (key === undefined || topicKey(message.topic) === key),
    );
  }
}

/** Requires ascending messages. */
function newestIn(keys: readonly string[], messages: readonly Message[]): ReadonlyMap<string, MessageId> {
  const newest = new Map(messages.map(({ id, topic }) => [topicKey(topic), id]));
  return new Map([...newest].filter(([key]) => keys.includes(key)));
}

/** Topics newest first, in the spelling of their newest message. */
function topicsOf(messages: readonly Message[]): TopicSummary[] {
  const topics = new Map<string, TopicSummary>();
  for (const { id, topic } of messages) topics.set(topicKey(topic), { name: topic, maxMessageId: id });
  return [...topics.values()].sort((a, b) => b.maxMessageId - a.maxMessageId);
}
