import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ReminderId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { cancelDelivery, REMINDER_JOB } from '../delivery-jobs.js';
import { publishToOwner } from '../scheduling-events.js';

/** Deletes a reminder of one's own (users §21). */
export class DeleteReminder {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REMINDER */
  execute({ realmId, userId }: Caller, { id }: { readonly id: ReminderId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const reminder = await tx.reminders.find(realmId, id);
      if (reminder?.userId !== userId) throw new DomainError('UNKNOWN_REMINDER', 'Reminder does not exist');
      await tx.reminders.remove(realmId, id);
      await cancelDelivery(tx, REMINDER_JOB, reminder);
      await publishToOwner(tx, reminder, { type: 'reminder.removed', id });
    });
  }
}
