import { normalizeTopic, parseTopic } from '../channels/channel.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ScheduledMessageId, UnixSeconds } from '../kernel/ids.js';
import { listing } from '../kernel/personal-list.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { type CheckedMessage, MessageSender } from './message-sender.js';
import { cancelDelivery, planDelivery, SCHEDULED_MESSAGE_JOB } from './scheduled-delivery.js';
import {
  deliveryTimePassed,
  KEEP_SENT_SECONDS,
  type NamedRecipients,
  parseRecipients,
  requireFuture,
  SCHEDULED_MESSAGE_LIST,
  type ScheduledMessage,
} from './scheduled-messages.js';

/** Lists the caller's unsent messages including failed ones, sorted by time (users §20.1). */
export class ListScheduledMessages extends listing(SCHEDULED_MESSAGE_LIST) {}

export interface CreateScheduledMessageInput {
  readonly kind: 'channel' | 'direct';
  readonly to: NamedRecipients;
  /** Null if not given. Ignored for direct messages. */
  readonly topic: string | null;
  /** Markdown as typed. */
  readonly content: string;
  readonly dueAt: UnixSeconds;
  readonly isReadBySender: boolean;
}

/** Schedules a message (users §20.2). The permission to send it is checked now and again on delivery. */
export class CreateScheduledMessage {
  static readonly inject = ['unitOfWork', MessageSender, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly sender: MessageSender,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError DELIVERY_TIME_PASSED, INVALID_SCHEDULED_RECIPIENT, TOO_MANY_SCHEDULED_MESSAGES, and the codes
   * for sending the message now
   */
  async execute(caller: Caller, input: CreateScheduledMessageInput): Promise<ScheduledMessageId> {
    const { realmId, userId, clientName } = caller;
    requireFuture(input.dueAt, this.clock.now());
    const to = parseRecipients(input.kind, input.to, userId);
    const prepared = await this.sender.prepare(caller, { to, topic: input.topic, content: input.content });
    return this.uow.write(realmId, async (tx) => {
      const { content, rendered } = await this.sender.check(tx, caller, prepared);
      await tx.scheduledMessages.removeSent(realmId, userId, this.clock.now() - KEEP_SENT_SECONDS);
      const message = await SCHEDULED_MESSAGE_LIST.add(tx, caller, {
        to,
        topic: prepared.topic,
        content,
        renderedContent: rendered.html,
        dueAt: input.dueAt,
        clientName,
        isReadBySender: input.isReadBySender,
        status: 'waiting',
        failure: null,
      });
      await planDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
      return message.id;
    });
  }
}

/** Null if absent. */
export interface ChangeScheduledMessageInput {
  readonly id: ScheduledMessageId;
  readonly kind: 'channel' | 'direct' | null;
  readonly to: NamedRecipients | null;
  /** Ignored for direct messages. */
  readonly topic: string | null;
  /** Markdown as typed. */
  readonly content: string | null;
  readonly dueAt: UnixSeconds | null;
}

/** Planned change; includes the prepared message if the permission to send it must be checked. */
interface Plan {
  readonly before: ScheduledMessage;
  readonly to: ScheduledMessage['to'];
  readonly topic: string;
  readonly prepared: Awaited<ReturnType<MessageSender['prepare']>> | null;
}

/** Edits an unsent message. A new time also reschedules a failed one (users §20.3). */
export class ChangeScheduledMessage {
  static readonly inject = ['unitOfWork', MessageSender, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly sender: MessageSender,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError SCHEDULED_CHANGE_REQUIRED, SCHEDULED_RECIPIENT_REQUIRED, SCHEDULED_TOPIC_REQUIRED,
   * DELIVERY_TIME_PASSED, UNKNOWN_SCHEDULED_MESSAGE, SCHEDULED_MESSAGE_SENT, INVALID_SCHEDULED_RECIPIENT,
   * TOO_MANY_SCHEDULED_MESSAGES, and, if the kind, recipient or content is given, the codes for sending the message
   * now
   */
  async execute(caller: Caller, input: ChangeScheduledMessageInput): Promise<void> {
    requireConsistent(input);
    if (input.dueAt !== null) requireFuture(input.dueAt, this.clock.now());
    for (;;) {
      const plan = await this.plan(caller, input);
      if (await this.change(caller, input, plan)) return;
    }
  }

  /** Runs before the unit of work, since parsing may be slow. */
  private async plan(caller: Caller, input: ChangeScheduledMessageInput): Promise<Plan> {
    const { realmId, userId } = caller;
    const found = await this.uow.read(realmId, (reads) => SCHEDULED_MESSAGE_LIST.get(reads, caller, input.id));
    const before = requireChangeable(found, input);
    const kind = input.kind ?? (before.to.kind === 'channelId' ? 'channel' : 'direct');
    const to = input.to === null ? before.to : parseRecipients(kind, input.to, userId);
    const topic = kind === 'direct' ? '' : input.topic === null ? before.topic : parseTopic(input.topic);
    const isAsked = input.kind !== null || input.to !== null || input.content !== null;
    const content = input.content ?? before.content;
    return {
      before,
      to,
      topic,
      prepared: isAsked ? await this.sender.prepare(caller, { to, topic, content }) : null,
    };
  }

  /** Returns false if the message has changed since planning. */
  private change(
    caller: Caller,
    input: ChangeScheduledMessageInput,
    { before, to, topic, prepared }: Plan,
  ): Promise<boolean> {
    return this.uow.write(caller.realmId, async (tx) => {
      const found = await tx.scheduledMessages.find(caller.realmId, input.id);
      if (JSON.stringify(found) !== JSON.stringify(before)) return false;
      const checked = prepared && (await this.sender.check(tx, caller, prepared));
      const message: ScheduledMessage = {
        ...before,
        ...(input.content !== null && textOf(checked!)),
        to,
        topic,
        dueAt: input.dueAt ?? before.dueAt,
        clientName: caller.clientName,
        status: 'waiting',
        failure: null,
      };
      await SCHEDULED_MESSAGE_LIST.change(tx, before, message);
      await planDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
      return true;
    });
  }
}

const textOf = ({ content, rendered }: CheckedMessage) => ({ content, renderedContent: rendered.html });

/** Checks users §20.3 rows 1–3. */
function requireConsistent({ kind, to, topic, content, dueAt }: ChangeScheduledMessageInput): void {
  if (kind === null && to === null && topic === null && content === null && dueAt === null) {
    throw new DomainError('SCHEDULED_CHANGE_REQUIRED', 'Nothing to change');
  }
  if (kind !== null && to === null) {
    throw new DomainError(
      'SCHEDULED_RECIPIENT_REQUIRED',
      'Recipient required when updating type of scheduled message.',
    );
  }
  if (kind === 'channel' && (topic === null || normalizeTopic(topic) === '')) {
    throw new DomainError(
      'SCHEDULED_TOPIC_REQUIRED',
      'Topic required when updating scheduled message type to channel.',
    );
  }
}

/** Checks users §20.3 rows 6 and 7. */
function requireChangeable(message: ScheduledMessage, { dueAt }: ChangeScheduledMessageInput): ScheduledMessage {
  if (message.status === 'sent') {
    throw new DomainError('SCHEDULED_MESSAGE_SENT', 'Scheduled message was already sent');
  }
  if (message.status === 'failed' && dueAt === null) throw deliveryTimePassed();
  return message;
}

/** Deletes one of the caller's scheduled messages (users §20.4). */
export class DeleteScheduledMessage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SCHEDULED_MESSAGE */
  execute(caller: Caller, { id }: { readonly id: ScheduledMessageId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const message = await SCHEDULED_MESSAGE_LIST.get(tx, caller, id);
      await cancelDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
      await SCHEDULED_MESSAGE_LIST.remove(tx, message);
    });
  }
}
