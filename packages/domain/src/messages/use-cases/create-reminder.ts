import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { orThrow } from '../../kernel/errors.js';
import type { MessageId, ReminderId, UnixSeconds } from '../../kernel/ids.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { planDelivery, REMINDER_JOB } from '../delivery-jobs.js';
import { parseNote, requireRoomForReminder, requireRoomForReminderText } from '../reminder.js';
import { loadReminded, reminderText } from '../reminder-text.js';
import { requireFuture } from '../scheduled-message.js';
import { publishToOwner } from '../scheduling-events.js';
import { SystemMessages } from '../system-messages.js';

export interface CreateReminderInput {
  readonly messageId: MessageId;
  readonly dueAt: UnixSeconds;
  /** Empty: none. */
  readonly note: string;
}

/** Has oneself reminded of a message that one can read (users §21). */
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
    const { realm, reminded } = await this.uow.read(async (reads) => {
      const found = await reads.realms.get(realmId);
      const viewer = await reads.actors.get(caller);
      return { realm: found, reminded: await loadReminded(reads, viewer, found, messageId) };
    });
    const note = parseNote(typed);
    const content = reminderText(reminded, note, this.realmUrls.urlOf(realm));
    const ahead = orThrow(await this.systemMessages.parse(realm, content));
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      // It may have been hidden from them meanwhile.
      await loadReminded(tx, actor, realm, messageId);
      requireRoomForReminder(await tx.reminders.count(realmId, userId));
      const renderedContent = await this.systemMessages.preview(tx, realm, content, { actor }, ahead);
      requireRoomForReminderText(await tx.reminders.countBytes(realmId, userId), [content, renderedContent]);
      const reminder = await tx.reminders.add({ realmId, userId, messageId, note, content, renderedContent, dueAt });
      await planDelivery(tx, REMINDER_JOB, reminder);
      await publishToOwner(tx, reminder, { type: 'reminder.added', reminder });
      return reminder.id;
    });
  }
}
