import type { RealmId, RealmRow, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { ScheduledMessage, ScheduledMessageRepository } from '@parley/domain/writing';
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
