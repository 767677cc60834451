import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, MessageId, ReminderId, UnixSeconds } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  loadReminded,
  MAX_REMINDERS,
  parseNote,
  type Reminder,
  reminderText,
  requireRoomForReminder,
  requireRoomForReminderText,
} from './reminders.js';
import { cancelDelivery, planDelivery, REMINDER_JOB } from './scheduled-delivery.js';
import { publishToOwner, requireFuture } from './scheduled-messages.js';
import { SystemMessages } from './system-messages.js';

/** Lists the caller's reminders including failed ones, sorted by time (users §21). */
export class ListReminders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly Reminder[]> {
    return this.uow.read(realmId, ({ reminders }) => reminders.list(realmId, userId, MAX_REMINDERS));
  }
}

export interface CreateReminderInput {
  readonly messageId: MessageId;
  readonly dueAt: UnixSeconds;
  /** Empty if there is no note. */
  readonly note: string;
}

/** Creates a reminder about a message the caller can read (users §21). */
export class CreateReminder {
  static readonly inject = ['unitOfWork', SystemMessages, 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError DELIVERY_TIME_PASSED, UNKNOWN_MESSAGE, REMINDER_NOTE_TOO_LONG, TOO_MANY_REMINDERS, UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { messageId, dueAt, note: typed }: CreateReminderInput): Promise<ReminderId> {
    const { realmId, userId } = caller;
    requireFuture(dueAt, this.clock.now());
    const { realm, reminded } = await this.uow.read(realmId, async (reads) => {
      const found = await reads.realms.get(realmId);
      const viewer = await reads.actors.get(caller);
      return { realm: found, reminded: await loadReminded(reads, viewer, found, messageId) };
    });
    const note = parseNote(typed);
    const content = reminderText(reminded, note, this.realmUrls.urlOf(realm));
    const ahead = orThrow(await this.systemMessages.parse(realm, content));
    return this.uow.write(realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      // The caller may have lost access in the meantime.
      await loadReminded(tx, actor, realm, messageId);
      requireRoomForReminder(await tx.reminders.count(realmId, userId));
      const renderedContent = await this.systemMessages.preview(tx, realm, content, { actor }, ahead);
      requireRoomForReminderText(await tx.reminders.countBytes(realmId, userId), [content, renderedContent]);
      const texts = { note, content, renderedContent };
      const reminder = await tx.reminders.add({ realmId, userId, messageId, ...texts, dueAt, failure: null });
      await planDelivery(tx, REMINDER_JOB, reminder);
      await publishToOwner(tx, reminder, { type: 'reminder.added', reminder });
      return reminder.id;
    });
  }
}

/** Deletes one of the caller's reminders (users §21). */
export class DeleteReminder {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REMINDER */
  execute({ realmId, userId }: Caller, { id }: { readonly id: ReminderId }): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const reminder = await tx.reminders.find(realmId, id);
      if (reminder?.userId !== userId) throw new DomainError('UNKNOWN_REMINDER', 'Reminder does not exist');
      await tx.reminders.remove(realmId, id);
      await cancelDelivery(tx, REMINDER_JOB, reminder);
      await publishToOwner(tx, reminder, { type: 'reminder.removed', id });
    });
  }
}
