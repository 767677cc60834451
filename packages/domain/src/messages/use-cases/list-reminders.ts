import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { MAX_REMINDERS, type Reminder } from '../reminder.js';

/** One's own, failed ones included, in the order of their times (users §21). */
export class ListReminders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly Reminder[]> {
    return this.uow.read(({ reminders }) => reminders.list(realmId, userId, MAX_REMINDERS));
  }
}
