import type { MessageId, RealmId, RealmRow, UnixSeconds, UserId } from '@parley/domain/kernel';
import type {
  Reminder,
  ReminderRepository,
  ScheduledMessage,
  ScheduledMessageRepository,
} from '@parley/domain/writing';
import { MemoryRows } from './memory-rows.js';

/** Scheduled messages and reminders share one counter. */
export class MemorySchedulingRows<Row extends RealmRow> extends MemoryRows<Row> {
  protected override newId(): number {
    return this.unit.nextNumber('scheduling');
  }
}

export class MemoryScheduledMessages
  extends MemorySchedulingRows<ScheduledMessage>
  implements ScheduledMessageRepository
{
  async removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void> {
    for (const { id, status, dueAt } of this.of([realmId, userId])) {
      if (status === 'sent' && dueAt < before) this.unit.change(this.table).delete(id);
    }
  }
}

export class MemoryReminders extends MemorySchedulingRows<Reminder> implements ReminderRepository {
  async listReminded(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly MessageId[]> {
    const reminded = messageIds.filter((id) => this.about(realmId, id).length > 0);
    return [...new Set(reminded)].sort((a, b) => a - b);
  }

  async listOfMessage(
    realmId: RealmId,
    messageId: MessageId,
    after: number,
    limit: number,
  ): Promise<readonly Reminder[]> {
    const found = this.about(realmId, messageId).filter(({ id }) => id > after);
    return found.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  private about(realmId: RealmId, messageId: MessageId): Reminder[] {
    return [...this.unit.read(this.table).values()].filter(
      (row) => row.realmId === realmId && (row as Reminder).messageId === messageId,
    ) as Reminder[];
  }
}
