import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { ScheduledMessageId, UnixSeconds } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { planDelivery, SCHEDULED_MESSAGE_JOB } from '../delivery-jobs.js';
import {
  KEEP_SENT_SECONDS,
  type NamedRecipients,
  parseRecipients,
  requireFuture,
  requireRoomForScheduledMessage,
  requireRoomForScheduledText,
} from '../scheduled-message.js';
import { publishToOwner } from '../scheduling-events.js';
import { SendMessage } from './send-message.js';

export interface CreateScheduledMessageInput {
  readonly kind: 'channel' | 'direct';
  readonly to: NamedRecipients;
  /** Null: not given. Means nothing for direct messages. */
  readonly topic: string | null;
  /** Markdown, as typed. */
  readonly content: string;
  readonly dueAt: UnixSeconds;
  readonly isReadBySender: boolean;
}

/** Has a message sent at a time (users §20.2). Whether it may be sent is asked now, and again then. */
export class CreateScheduledMessage {
  static readonly inject = ['unitOfWork', SendMessage, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly sendMessage: SendMessage,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError DELIVERY_TIME_PASSED, INVALID_SCHEDULED_RECIPIENT, TOO_MANY_SCHEDULED_MESSAGES, and what sending
   * the message now would be refused for
   */
  async execute(caller: Caller, input: CreateScheduledMessageInput): Promise<ScheduledMessageId> {
    const { realmId, userId, clientName } = caller;
    requireFuture(input.dueAt, this.clock.now());
    const to = parseRecipients(input.kind, input.to, userId);
    const prepared = await this.sendMessage.prepare(caller, { to, topic: input.topic, content: input.content });
    return this.uow.write(async (tx) => {
      const { content, rendered } = await this.sendMessage.check(tx, caller, prepared);
      requireRoomForScheduledMessage(await tx.scheduledMessages.countUnsent(realmId, userId));
      await tx.scheduledMessages.removeSent(realmId, userId, this.clock.now() - KEEP_SENT_SECONDS);
      const texts = { content, renderedContent: rendered.html };
      requireRoomForScheduledText(await tx.scheduledMessages.countUnsentBytes(realmId, userId), texts);
      const message = await tx.scheduledMessages.add({
        realmId,
        userId,
        to,
        topic: prepared.topic,
        ...texts,
        dueAt: input.dueAt,
        clientName,
        isReadBySender: input.isReadBySender,
      });
      await planDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
      await publishToOwner(tx, message, { type: 'scheduled_message.added', message });
      return message.id;
    });
  }
}
