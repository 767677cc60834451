import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { applyParticipation } from '../automatic-topic-policies.js';
import { loadReadable } from '../load-access.js';
import { messageWatchers } from '../message-audiences.js';
import { checkSubmessage, requireRoomForSubmessage } from '../submessage.js';

export interface AddSubmessageInput {
  readonly messageId: MessageId;
  readonly kind: string;
  /** JSON. */
  readonly content: string;
}

/** Votes in a poll, adds a task, and the like (messages §15.3). */
export class AddSubmessage {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, CANNOT_ATTACH_SUBMESSAGE, INVALID_SUBMESSAGE, TOO_MANY_SUBMESSAGES */
  execute(caller: Caller, { messageId, kind, content }: AddSubmessageInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId, id: senderId } = actor;
      const { message, channel } = await loadReadable(tx, actor, messageId, { modifying: true });
      const isAuthor = message.senderId === senderId;
      const { first, hasOfAuthor, ...present } = await tx.messages.summarizeSubmessages(
        realmId,
        messageId,
        message.senderId,
      );
      if (!isAuthor && !hasOfAuthor) {
        throw new DomainError('CANNOT_ATTACH_SUBMESSAGE', 'You cannot attach a submessage to this message.');
      }
      checkSubmessage(content, first, isAuthor);
      requireRoomForSubmessage(present, content);
      const submessage = await tx.messages.addSubmessage(realmId, { messageId, senderId, kind, content });
      await applyParticipation(tx, actor, message, this.clock.now());
      await tx.events.append(realmId, {
        event: { type: 'message.submessage_added', submessage },
        audience: messageWatchers(message, channel),
        quotes: messageId,
      });
    });
  }
}
