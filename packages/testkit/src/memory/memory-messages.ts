import {
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  type MessageHead,
  type MessageId,
  type MessageRepository,
  type MessageView,
  type NewMessage,
  type Ordinal,
  type PersonView,
  personView,
  type RealmId,
  type RecipientId,
  type Submessage,
  type TopicSummary,
  topicKey,
  type UnixSeconds,
  type UserId,
  type Viewer,
} from '@parley/domain';
import { matches, matching } from './message-filter.js';
import { deliver, findFlags, forget, GAINED_BY_MOVE, holdersOf, putFlags, receiversOf } from './personal-rows.js';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

export class MemoryMessages implements MessageRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: MessageId): Promise<Message | null> {
    return (await this.list(realmId, [id]))[0] ?? null;
  }

  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]> {
    const wanted = new Set(ids);
    return this.all(realmId).filter((message) => wanted.has(message.id));
  }

  async listHeadsUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageHead[]> {
    const found = matching(this.unit, viewer, filter).filter(({ id }) => atMost === null || id <= atMost);
    return found.slice(Math.max(0, found.length - limit)).map((message) => this.toHead(viewer, message));
  }

  async listHeadsFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageHead[]> {
    const found = matching(this.unit, viewer, filter).filter(({ id }) => id >= atLeast);
    return found.slice(0, limit).map((message) => this.toHead(viewer, message));
  }

  async listHeads(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageHead[]> {
    return (await this.list(viewer.realmId, ids))
      .filter((message) => matches(this.unit, viewer, message, conditions))
      .map((message) => this.toHead(viewer, message));
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    return (await this.list(realmId, ids)).map((message) => ({
      message,
      sender: this.person(message.senderId),
      submessages: [...this.unit.read('submessages').values()].filter(({ messageId }) => messageId === message.id),
      conversation:
        message.channelId === null
          ? { kind: 'direct', people: this.people(message.recipientId).map((id) => this.person(id)) }
          : {
              kind: 'channel',
              channelId: message.channelId,
              name: this.unit.read('channels').get(message.channelId)!.name,
            },
    }));
  }

  async findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null> {
    return this.all(realmId).find(({ sentAt }) => sentAt >= since)?.id ?? null;
  }

  async hasMessages(realmId: RealmId, recipientId: RecipientId, key?: string): Promise<boolean> {
    return this.inTopic(realmId, recipientId, key).length > 0;
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
    for (const { recipientId, sentAt } of this.all(realmId)) {
      if (sentAt < since || !recipientIds.includes(recipientId)) continue;
      counts.set(recipientId, (counts.get(recipientId) ?? 0) + 1);
    }
    return counts;
  }

  async append(newMessage: NewMessage): Promise<Message> {
    const { readBy: _, exceptions: __, ...content } = newMessage;
    const message: Message = {
      ...content,
      id: this.unit.nextNumber<MessageId>('message'),
      sentRecipientId: content.recipientId,
      ordinal: this.unit.nextNumber<Ordinal>(keyOf('ordinal', content.recipientId)),
      lastEditedAt: null,
      lastMovedAt: null,
      version: 1,
    };
    this.unit.change('messages').set(message.id, message);
    deliver(this.unit, message, newMessage);
    return message;
  }

  async addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage> {
    const added = { ...submessage, id: this.unit.nextNumber<number>('submessage') };
    this.unit.change('submessages').set(added.id, added);
    const message = await this.find(realmId, submessage.messageId);
    if (message) this.unit.change('messages').set(message.id, { ...message, version: message.version + 1 });
    return added;
  }

  async move(
    realmId: RealmId,
    ids: readonly MessageId[],
    target: Parameters<MessageRepository['move']>[2],
  ): Promise<void> {
    const { channelId, recipientId, isHistoryProtected } = target;
    const followers = receiversOf(this.unit, realmId, recipientId);
    for (const message of await this.list(realmId, ids)) {
      const topic = target.topic ?? message.topic;
      const moved: Message = { ...message, channelId, recipientId, topic, version: message.version + 1 };
      this.unit.change('messages').set(message.id, moved);
      if (message.recipientId !== recipientId) this.resettle(message.id, followers, isHistoryProtected);
    }
  }

  async remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const removed = (await this.list(realmId, ids)).map(({ id }) => id);
    for (const id of removed) {
      const userIds = holdersOf(this.unit, id);
      for (const userId of userIds) forget(this.unit, userId, id);
      this.unit.change('formerHolders').set(id, { realmId, userIds });
      this.unit.change('messages').delete(id);
      const submessages = this.unit.change('submessages');
      for (const one of submessages.values()) if (one.messageId === id) submessages.delete(one.id);
    }
    return removed;
  }

  /** Whose the message is after it came to another channel. */
  private resettle(id: MessageId, followers: ReadonlySet<UserId>, isHistoryProtected: boolean): void {
    for (const userId of holdersOf(this.unit, id)) if (!followers.has(userId)) forget(this.unit, userId, id);
    if (!isHistoryProtected) return;
    for (const userId of followers) {
      if (!findFlags(this.unit, userId, id)) putFlags(this.unit, userId, id, GAINED_BY_MOVE);
    }
  }

  private all(realmId: RealmId): Message[] {
    return [...this.unit.read('messages').values()].filter((message) => message.realmId === realmId);
  }

  private inTopic(realmId: RealmId, recipientId: RecipientId, key?: string): Message[] {
    return this.all(realmId).filter(
      (message) => message.recipientId === recipientId && (key === undefined || topicKey(message.topic) === key),
    );
  }

  private toHead({ userId }: Viewer, message: Message): MessageHead {
    const { id, senderId, recipientId, channelId } = message;
    return {
      id,
      senderId,
      recipientId,
      channelId,
      versions: {
        message: message.version,
        sender: this.versionOf(senderId),
        conversation:
          channelId === null
            ? this.people(recipientId).reduce((sum, person) => sum + this.versionOf(person), 0)
            : this.unit.read('channels').get(channelId)!.version,
      },
      flags: findFlags(this.unit, userId, id) ?? HISTORICAL,
    };
  }

  private versionOf(userId: UserId): number {
    return this.unit.read('users').get(userId)!.user.version;
  }

  private people(recipientId: RecipientId): readonly UserId[] {
    const recipient = this.unit.read('recipients').get(recipientId);
    return recipient?.kind === 'direct' ? recipient.userIds : [];
  }

  private person(userId: UserId): PersonView {
    return personView(this.unit.read('users').get(userId)!.user);
  }
}

/** The messages ascend. */
function newestIn(keys: readonly string[], messages: readonly Message[]): ReadonlyMap<string, MessageId> {
  const newest = new Map(messages.map(({ id, topic }) => [topicKey(topic), id]));
  return new Map([...newest].filter(([key]) => keys.includes(key)));
}

/** Newest first; each as its newest message spells it. */
function topicsOf(messages: readonly Message[]): TopicSummary[] {
  const topics = new Map<string, TopicSummary>();
  for (const { id, topic } of messages) topics.set(topicKey(topic), { name: topic, maxMessageId: id });
  return [...topics.values()].sort((a, b) => b.maxMessageId - a.maxMessageId);
}
