import type { Caller } from '../../kernel/caller.js';
import type { ScheduledMessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { cancelDelivery, SCHEDULED_MESSAGE_JOB } from '../delivery-jobs.js';
import { requireOwn } from '../scheduled-message.js';
import { publishToOwner } from '../scheduling-events.js';

/** Deletes a message of one's own that was to be sent (users §20.4). */
export class DeleteScheduledMessage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SCHEDULED_MESSAGE */
  execute({ realmId, userId }: Caller, { id }: { readonly id: ScheduledMessageId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const message = requireOwn(await tx.scheduledMessages.find(realmId, id), userId);
      await tx.scheduledMessages.remove(realmId, id);
      await cancelDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
      await publishToOwner(tx, message, { type: 'scheduled_message.removed', id });
    });
  }
}
