import { DomainError, orThrow } from '../kernel/errors.js';
import type { ReminderId } from '../kernel/ids.js';
import type { Job } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { type DeliveryPayload, failureOf, REMINDER_JOB, requireActiveOwner } from './delivery-jobs.js';
import type { Reminder } from './reminder.js';
import { loadReminded, reminderText } from './reminder-text.js';
import { publishToOwner } from './scheduling-events.js';
import { SystemMessages } from './system-messages.js';

const NOTHING_TO_DO: JobWork = async () => {};

/** Sends reminders, however late, as direct messages of the notification bot (users §21). */
export class DeliverReminder implements JobHandler<DeliveryPayload> {
  static readonly inject = ['unitOfWork', SystemMessages, 'realmUrls'] as const;

  readonly kind = REMINDER_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
  ) {}

  async prepare({ realmId, payload }: Job<DeliveryPayload>): Promise<JobWork> {
    const found = await this.uow.read(async (reads) => {
      const reminder = await reads.reminders.find(realmId, payload.id as ReminderId);
      if (!reminder) return null;
      await requireActiveOwner(reads, reminder);
      const realm = await reads.realms.get(realmId);
      return { reminder, realm, text: await this.textOf(reads, reminder) };
    });
    if (!found) return NOTHING_TO_DO;
    const { reminder, text } = found;
    const ahead = orThrow(await this.systemMessages.parse(found.realm, text));
    return async (tx) => {
      await requireActiveOwner(tx, reminder);
      const actor = await tx.actors.get(reminder);
      const realm = await tx.realms.get(realmId);
      const person = (await tx.users.find(realmId, reminder.userId))!;
      await this.systemMessages.sendDirect(tx, realm, person, text, { actor }, ahead);
      await tx.reminders.remove(realmId, reminder.id);
      await publishToOwner(tx, reminder, { type: 'reminder.removed', id: reminder.id });
    };
  }

  /** No event is sent: it shows in the list of reminders. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<DeliveryPayload>, error: unknown): Promise<void> {
    await tx.reminders.fail(realmId, payload.id as ReminderId, failureOf(error));
  }

  /** Of the message as it is now, or, where it cannot be read any more, as it was. */
  private async textOf(reads: Repositories, { realmId, userId, messageId, note, content }: Reminder): Promise<string> {
    const realm = await reads.realms.get(realmId);
    const actor = await reads.actors.get({ realmId, userId });
    try {
      return reminderText(await loadReminded(reads, actor, realm, messageId), note, this.realmUrls.urlOf(realm));
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNKNOWN_MESSAGE') return content;
      throw error;
    }
  }
}
