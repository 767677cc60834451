import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { MessageId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { deleteMessages } from '../delete-messages.js';
import { loadReadable } from '../load-access.js';
import { canDeleteMessage } from '../message-permissions.js';

/** Deletes one message (messages §11). */
export class DeleteMessage {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, CANNOT_DELETE_MESSAGE, DELETE_TIME_LIMIT_EXCEEDED */
  execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const { realmId } = caller;
      const actor = await tx.actors.get(caller);
      const { message, channel } = await loadReadable(tx, actor, messageId, { modifying: true });
      const realm = await tx.realms.get(realmId);
      const sender = await tx.users.find(realmId, message.senderId);
      const deletedAt = this.clock.now();
      const senderOwnerId = sender?.bot?.ownerId ?? null;
      enforce(canDeleteMessage(actor, realm, { message, senderOwnerId, channel }, deletedAt));
      await deleteMessages(tx, { realmId, deletedBy: actor.id, deletedAt, channel, messages: [message] });
    });
  }
}
