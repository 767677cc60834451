import { orThrow } from '../kernel/errors.js';
import type { Caller, MessageId, ReminderId, UnixSeconds } from '../kernel/ids.js';
import { listing } from '../kernel/personal-list.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { loadReminded, parseNote, REMINDER_LIST, reminderText } from './reminders.js';
import { cancelDelivery, planDelivery, REMINDER_JOB } from './scheduled-delivery.js';
import { requireFuture } from './scheduled-messages.js';
import { SystemMessages } from './system-messages.js';

/** Lists the caller's reminders including failed ones, sorted by time (users §21). */
export class ListReminders extends listing(REMINDER_LIST) {}

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
    const { realmId } = caller;
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
      await REMINDER_LIST.requireRoom(tx, caller);
      const renderedContent = await this.systemMessages.preview(tx, realm, content, { actor }, ahead);
      const texts = { note, content, renderedContent };
      const reminder = await REMINDER_LIST.add(tx, caller, { messageId, ...texts, dueAt, failure: null });
      await planDelivery(tx, REMINDER_JOB, reminder);
      return reminder.id;
    });
  }
}

/** Deletes one of the caller's reminders (users §21). */
export class DeleteReminder {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REMINDER */
  execute(caller: Caller, { id }: { readonly id: ReminderId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const reminder = await REMINDER_LIST.get(tx, caller, id);
      await cancelDelivery(tx, REMINDER_JOB, reminder);
      await REMINDER_LIST.remove(tx, reminder);
    });
  }
}
