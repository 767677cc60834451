import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { MAX_SCHEDULED_MESSAGES, type ScheduledMessage } from '../scheduled-message.js';

/** One's own that were not sent, failed ones included, in the order of their times (users §20.1). */
export class ListScheduledMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly ScheduledMessage[]> {
    return this.uow.read(({ scheduledMessages }) =>
      scheduledMessages.listUnsent(realmId, userId, MAX_SCHEDULED_MESSAGES),
    );
  }
}
