import type { Caller } from '../kernel/caller.js';
import type { Clock } from '../kernel/clock.js';
import { DomainError } from '../kernel/errors.js';
import type { ScheduledMessageId, UnixSeconds } from '../kernel/ids.js';
import type { Job } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import {
  type DeliveryPayload,
  failureOf,
  isSilentFailure,
  requireActiveOwner,
  SCHEDULED_MESSAGE_JOB,
} from './delivery-jobs.js';
import { MAX_DELAY_SECONDS, type ScheduledMessage } from './scheduled-message.js';
import { publishToOwner } from './scheduling-events.js';
import { SystemMessages } from './system-messages.js';
import { SendMessage } from './use-cases/send-message.js';

const NOTHING_TO_DO: JobWork = async () => {};

/** Sends scheduled messages as `POST /messages` would at that moment, or stores why that failed (users §20.5). */
export class DeliverScheduledMessage implements JobHandler<DeliveryPayload> {
  static readonly inject = ['unitOfWork', SendMessage, SystemMessages, 'clock'] as const;

  readonly kind = SCHEDULED_MESSAGE_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly sendMessage: SendMessage,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  async prepare(job: Job<DeliveryPayload>): Promise<JobWork> {
    const message = await this.uow.read(async (reads) => {
      const found = await findWaiting(reads, job);
      if (found) await this.requireDeliverable(reads, found);
      return found;
    });
    if (!message) return NOTHING_TO_DO;
    const { realmId, userId, clientName, to, topic, content, isReadBySender } = message;
    const caller: Caller = { realmId, userId, clientName };
    const asked = await this.sendMessage.ask(caller, { to, topic, content });
    const prepared = await this.sendMessage.prepare(caller, asked);
    // An edit since then has put another job in the place of this one, and this work is not done.
    return async (tx) => {
      await this.requireDeliverable(tx, message);
      const checked = await this.sendMessage.check(tx, caller, prepared);
      await this.sendMessage.send(tx, caller, checked, { isReadBySender, echo: null });
      await tx.scheduledMessages.update({ ...message, status: 'sent', content: '', renderedContent: '' });
      await publishToOwner(tx, message, { type: 'scheduled_message.removed', id: message.id });
    };
  }

  async giveUp(tx: Transaction, job: Job<DeliveryPayload>, error: unknown): Promise<void> {
    const found = await findWaiting(tx, job);
    if (!found) return;
    const message: ScheduledMessage = { ...found, status: 'failed', failure: failureOf(error) };
    await tx.scheduledMessages.update(message);
    if (isSilentFailure(error)) return;
    await publishToOwner(tx, message, { type: 'scheduled_message.changed', message });
    const { realmId, userId } = message;
    const realm = await tx.realms.get(realmId);
    const person = (await tx.users.find(realmId, userId))!;
    await this.systemMessages.sendDirect(tx, realm, person, failureNotice(message), {
      actor: await tx.actors.get({ realmId, userId }),
    });
  }

  private async requireDeliverable(
    reads: Pick<Repositories | Transaction, 'realms' | 'users'>,
    message: ScheduledMessage,
  ): Promise<void> {
    await requireActiveOwner(reads, message);
    if (this.clock.now() - message.dueAt > MAX_DELAY_SECONDS) {
      throw new DomainError('DELIVERY_TOO_LATE', 'Message could not be sent at the scheduled time.');
    }
  }
}

async function findWaiting(
  { scheduledMessages }: Pick<Repositories | Transaction, 'scheduledMessages'>,
  { realmId, payload }: Job<DeliveryPayload>,
): Promise<ScheduledMessage | null> {
  const found = await scheduledMessages.find(realmId, payload.id as ScheduledMessageId);
  return found?.status === 'waiting' ? found : null;
}

/** Sic: two spaces behind the time, as clients of the API have always got it. */
export const failureNotice = ({ dueAt, failure }: Pick<ScheduledMessage, 'dueAt' | 'failure'>): string =>
  [
    `The message you scheduled for <time:${dateTime(dueAt)}>  was not sent because of the following error:`,
    `> ${failure}`,
    '[View scheduled messages](#scheduled)',
  ].join('\n\n');

/** `2026-05-10 11:00:00+00:00`. */
const dateTime = (time: UnixSeconds): string =>
  new Date(time * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00:00');
