import type { MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type {
  EditedText,
  Message,
  MessageRepository,
  NewMessage,
  Submessage,
  SubmessageSummary,
} from '@parley/domain/messages';
import { isMessageTable, messagesOf } from './messages-of.js';
import { deliver, findFlags, forget, holdersOf, isReceived, putFlags } from './personal-rows.js';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

interface FormerHolders {
  readonly realmId: RealmId;
  /** Ascending. */
  readonly userIds: readonly UserId[];
}

declare module './tables.js' {
  interface Tables {
    readonly messages: Map<MessageId, Message>;
    /** Submessages by id. */
    readonly submessages: Map<number, Submessage>;
    /** Former holders of deleted messages, who receive the deletion event. */
    readonly formerHolders: Map<MessageId, FormerHolders>;
  }
}

export function appendMessage(unit: MemoryUnit, newMessage: NewMessage, id: MessageId): Message {
  const { readBy: _, exceptions: __, ...content } = newMessage;
  const message: Message = {
    isEdited: false,
    lastEditedAt: null,
    lastMovedAt: null,
    ...content,
    id,
    sentRecipientId: content.recipientId,
    ordinal: unit.nextNumber<Ordinal>(keyOf('ordinal', content.recipientId)),
    hasReactions: false,
    hasData: false,
    version: 1,
  };
  unit.change('messages').set(message.id, message);
  deliver(unit, message, newMessage);
  return message;
}

export class MemoryMessages implements MessageRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: MessageId): Promise<Message | null> {
    return (await this.list(realmId, [id]))[0] ?? null;
  }

  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]> {
    return messagesOf(this.unit, realmId, ids);
  }

  async summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary> {
    const isHere = (await this.find(realmId, id)) !== null;
    const all = [...this.unit.read('submessages').values()].filter(({ messageId }) => isHere && messageId === id);
    return {
      count: all.length,
      length: all.reduce((sum, { content }) => sum + [...content].length, 0),
      first: all[0] ?? null,
      hasOfAuthor: all.some(({ senderId }) => senderId === authorId),
    };
  }

  async listSubmessagesOf(realmId: RealmId, senderId: UserId, after: number, limit: number) {
    const sent = [...this.unit.read('submessages').values()].filter(
      (each) => each.senderId === senderId && each.id > after,
    );
    const here = new Set(
      (
        await this.list(
          realmId,
          sent.map(({ messageId }) => messageId),
        )
      ).map(({ id }) => id),
    );
    return sent
      .filter(({ messageId }) => here.has(messageId))
      .sort((a, b) => a.id - b.id)
      .slice(0, limit);
  }

  async listTimes(realmId: RealmId, ids: readonly MessageId[]) {
    return messagesOf(this.unit, realmId, ids).map(({ id, sentAt }) => ({ id, sentAt }));
  }

  async latestSentAt(): Promise<UnixSeconds | null> {
    const all = this.unit.read('messages');
    return all.get(Math.max(0, ...all.keys()) as MessageId)?.sentAt ?? null;
  }

  async listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before: MessageId | null = null,
  ): Promise<readonly MessageId[]> {
    return messagesOf(this.unit, realmId)
      .filter((message) => message.recipientId === recipientId && (before === null || message.id < before))
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async listMuters(realmId: RealmId, senderId: UserId): Promise<readonly UserId[]> {
    const mutes = this.unit.read('mutes');
    const users = [...this.unit.read('users').values()].map(({ user }) => user).filter((it) => it.realmId === realmId);
    return users
      .map(({ id }) => id)
      .filter((id) => mutes.has(keyOf(id, senderId)))
      .sort(ascending);
  }

  async append(newMessage: NewMessage): Promise<Message> {
    return appendMessage(this.unit, newMessage, this.unit.nextNumber<MessageId>('message'));
  }

  async edit(realmId: RealmId, id: MessageId, { editedAt, exceptions, ...text }: EditedText): Promise<void> {
    const message = await this.find(realmId, id);
    if (!message) return;
    const version = message.version + 1;
    this.unit.change('messages').set(id, { ...message, ...text, lastEditedAt: editedAt, isEdited: true, version });
    for (const userId of holdersOf(this.unit, id)) {
      const named = exceptions.get(userId) ?? {};
      const flags = findFlags(this.unit, userId, id)!;
      putFlags(this.unit, userId, id, {
        ...flags,
        mentioned: named.mentioned ?? false,
        topicWildcardMentioned: named.topicWildcardMentioned ?? false,
        hasAlertWord: named.hasAlertWord ?? false,
        channelWildcardMentioned: text.mentionsChannel && isReceived(this.unit, userId, id),
      });
    }
  }

  async rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void> {
    const message = await this.find(realmId, id);
    if (!message) return;
    this.unit.change('messages').set(id, { ...message, renderedContent, version: message.version + 1 });
  }

  async changeSender(realmId: RealmId, ids: readonly MessageId[], from: UserId, to: UserId): Promise<void> {
    for (const message of await this.list(realmId, ids)) {
      if (message.senderId !== from) continue;
      this.unit.change('messages').set(message.id, { ...message, senderId: to, version: message.version + 1 });
    }
  }

  async addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage> {
    const added = { ...submessage, id: this.unit.nextNumber<number>('submessage') };
    this.unit.change('submessages').set(added.id, added);
    const message = await this.find(realmId, submessage.messageId);
    if (message) this.unit.change('messages').set(message.id, { ...message, version: message.version + 1 });
    return added;
  }

  async removeSubmessages(realmId: RealmId, submessages: readonly Pick<Submessage, 'id' | 'messageId'>[]) {
    for (const { id } of submessages) this.unit.change('submessages').delete(id);
    for (const message of await this.list(
      realmId,
      submessages.map(({ messageId }) => messageId),
    )) {
      this.unit.change('messages').set(message.id, { ...message, version: message.version + 1 });
    }
  }

  async remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const removed = (await this.list(realmId, ids)).map(({ id }) => id);
    for (const id of removed) {
      const userIds = holdersOf(this.unit, id);
      for (const userId of userIds) forget(this.unit, userId, id);
      this.unit.change('formerHolders').set(id, { realmId, userIds });
      this.unit.change('messages').delete(id);
      for (const name of this.unit.names().filter(isMessageTable)) this.unit.change(name).delete(id);
      const submessages = this.unit.change('submessages');
      for (const one of submessages.values()) if (one.messageId === id) submessages.delete(one.id);
    }
    return removed;
  }
}
