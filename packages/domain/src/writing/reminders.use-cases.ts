import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, MessageId, RealmId, ReminderId, UnixSeconds } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import { listing } from '../kernel/personal-list.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { lastOf } from '../kernel/work.js';
import type { Author, ParsedMarkdown } from '../markdown/markdown.js';
import { plainTextHtml } from '../markdown/safe-html.js';
import type { Realm } from '../realms/realm.js';
import {
  DELETED_MESSAGE_JOB,
  deletedReminderText,
  loadReminded,
  noteWithPresentNames,
  parseNote,
  REMINDER_LIST,
  type Reminder,
  reminderText,
  usersMentionedIn,
} from './reminders.js';
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

/** Reminders per unit of work. */
const AT_ONCE = 20;

/** Removes the text of a deleted message from the reminders about it. Clients see the reminder replaced (users §21). */
export class RemoveTextFromReminders implements JobHandler<{ readonly id: number }> {
  static readonly inject = ['unitOfWork', SystemMessages] as const;

  readonly kind = DELETED_MESSAGE_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
  ) {}

  /** Shows notes as plain text in repeated attempts, because the rendering of a note may have failed. */
  async prepare({ realmId, payload, attempt }: Job<{ readonly id: number }>): Promise<JobWork> {
    const messageId = payload.id as MessageId;
    const parse = attempt === 1 ? (realm: Realm, text: string) => this.parse(realm, text) : async () => null;
    for (let after: number | null = 0; after !== null; )
      after = await this.removeSome(realmId, messageId, after, parse);
    return async () => {};
  }

  /** Returns the id of the reminder to continue after, or null when finished. */
  private async removeSome(
    realmId: RealmId,
    messageId: MessageId,
    after: number,
    parse: (realm: Realm, text: string) => Promise<ParsedMarkdown | null>,
  ): Promise<number | null> {
    const { realm, reminders } = await this.uow.read(realmId, async (reads) => {
      const some = await reads.reminders.listOfMessage(realmId, messageId, after, AT_ONCE);
      const mentionedIds = some.flatMap(({ renderedContent }) => usersMentionedIn(renderedContent).map(({ id }) => id));
      const mentioned = await reads.users.list(realmId, mentionedIds);
      const withNote = (one: Reminder) => ({ id: one.id, note: noteWithPresentNames(one, mentioned) });
      return { realm: await reads.realms.get(realmId), reminders: some.map(withNote) };
    });
    const texts: (Pick<Reminder, 'id' | 'note' | 'content'> & { readonly ahead: ParsedMarkdown | null })[] = [];
    for (const { id, note } of reminders) {
      const content = deletedReminderText(note);
      texts.push({ id, note, content, ahead: await parse(realm, content) });
    }
    await this.uow.write(realmId, async (tx) => {
      // The message may have been restored in the meantime.
      if ((await tx.messages.list(realmId, [messageId])).length > 0) return;
      for (const { id, note, content, ahead } of texts) {
        const reminder = await tx.reminders.find(realmId, id);
        if (!reminder) continue;
        const { userId } = reminder;
        // A deactivated user has no access.
        const actor = (await tx.actors.list(realmId, [userId])).get(userId) ?? null;
        const renderedContent = await this.render(tx, realm, content, { actor }, ahead);
        const changed = { ...reminder, note, content, renderedContent };
        await tx.reminders.update(changed);
        await REMINDER_LIST.publish(tx, reminder, { type: 'reminder.removed', id });
        await REMINDER_LIST.publishAdded(tx, changed);
      }
    });
    return reminders.length < AT_ONCE ? null : lastOf(reminders).id;
  }

  /** Returns null if the text cannot be rendered. */
  private async parse(realm: Realm, text: string): Promise<ParsedMarkdown | null> {
    const parsed = await this.systemMessages.parse(realm, text);
    return parsed instanceof DomainError ? null : parsed;
  }

  /** Returns plain text if the content cannot be rendered: the text of the message must go in any case. */
  private async render(
    tx: Transaction,
    realm: Realm,
    content: string,
    author: Author,
    ahead: ParsedMarkdown | null,
  ): Promise<string> {
    if (!ahead) return plainTextHtml(content);
    try {
      return await this.systemMessages.preview(tx, realm, content, author, ahead);
    } catch (error) {
      if (error instanceof DomainError) return plainTextHtml(content);
      throw error;
    }
  }
}
