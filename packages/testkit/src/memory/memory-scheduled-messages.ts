import type { RealmId, ScheduledMessageId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { NewScheduledMessage, ScheduledMessage, ScheduledMessageRepository } from '@parley/domain/messages';
import { inOrderOfTime, nextSchedulingId } from './scheduling-rows.js';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly scheduledMessages: Map<ScheduledMessageId, ScheduledMessage>;
  }
}

export class MemoryScheduledMessages implements ScheduledMessageRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: ScheduledMessageId): Promise<ScheduledMessage | null> {
    const message = this.unit.read('scheduledMessages').get(id);
    return message?.realmId === realmId ? message : null;
  }

  async listUnsent(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ScheduledMessage[]> {
    return this.unsent(realmId, userId).sort(inOrderOfTime).slice(0, limit);
  }

  async countUnsent(realmId: RealmId, userId: UserId): Promise<number> {
    return this.unsent(realmId, userId).length;
  }

  async countUnsentBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.unsent(realmId, userId).reduce(
      (sum, { content, renderedContent }) => sum + Buffer.byteLength(content + renderedContent),
      0,
    );
  }

  async add(message: NewScheduledMessage, reserved: ScheduledMessageId | null = null): Promise<ScheduledMessage> {
    const id = reserved ?? nextSchedulingId<ScheduledMessageId>(this.unit);
    const added: ScheduledMessage = { id, ...message, status: 'waiting', failure: null };
    this.unit.change('scheduledMessages').set(id, added);
    return added;
  }

  async update(message: ScheduledMessage): Promise<void> {
    const { realmId, id } = message;
    if (await this.find(realmId, id)) this.unit.change('scheduledMessages').set(id, message);
  }

  async remove(realmId: RealmId, id: ScheduledMessageId): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('scheduledMessages').delete(id);
  }

  async removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void> {
    for (const { id, status, dueAt } of this.of(realmId, userId)) {
      if (status === 'sent' && dueAt < before) this.unit.change('scheduledMessages').delete(id);
    }
  }

  private unsent(realmId: RealmId, userId: UserId): ScheduledMessage[] {
    return this.of(realmId, userId).filter(({ status }) => status !== 'sent');
  }

  private of(realmId: RealmId, userId: UserId): ScheduledMessage[] {
    return [...this.unit.read('scheduledMessages').values()].filter(
      (message) => message.realmId === realmId && message.userId === userId,
    );
  }
}
