import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, RealmId, ReminderId, ScheduledMessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import {
  encodeJob,
  idPayload,
  type Job,
  type JobHandler,
  type JobKind,
  type JobWork,
  jobKind,
} from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { ExportedRows } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { htmlShape } from '../markdown/safe-html.js';
import { accountDeactivated, realmDeactivated } from '../users/authentication.js';
import { MessageSender } from './message-sender.js';
import { deletedReminderText, loadReminded, REMINDER_LIST, type Reminder, reminderText } from './reminders.js';
import { MAX_DELAY_SECONDS, SCHEDULED_MESSAGE_LIST, type ScheduledMessage } from './scheduled-messages.js';
import { SystemMessages } from './system-messages.js';

/** Id of the scheduled message or reminder. */
export type DeliveryPayload = { readonly id: number };

/** Retries unexpected failures twice, well before the delivery deadline. */
const RETRIES = { maxAttempts: 3, firstDelaySeconds: 5, maxDelaySeconds: 60 };

/** Limited concurrency, since many deliveries are due in the same minute and compete with other writes. */
const COMMON = {
  readPayload: idPayload<DeliveryPayload>('id'),
  retries: RETRIES,
  concurrency: 16,
  // Maximum delay of a message after a server crash.
  leaseSeconds: 5,
  inOrder: true,
  waitsWhileQuiet: true,
  isFixed: true,
};

export const SCHEDULED_MESSAGE_JOB = jobKind({ name: 'scheduling.send_message', ...COMMON });
export const REMINDER_JOB = jobKind({ name: 'scheduling.send_reminder', ...COMMON });

interface Deliverable {
  readonly id: number;
  readonly realmId: RealmId;
  readonly dueAt: UnixSeconds;
}

/** Schedules the delivery and replaces an earlier job, discarding its work. */
export async function planDelivery(
  tx: Transaction,
  kind: JobKind<DeliveryPayload>,
  { id, realmId, dueAt }: Deliverable,
): Promise<void> {
  await tx.jobs.schedule(encodeJob(kind, { realmId, dueAt, payload: { id }, key: String(id) }));
}

export async function cancelDelivery(
  tx: Transaction,
  kind: JobKind<DeliveryPayload>,
  { id, realmId }: Deliverable,
): Promise<void> {
  await tx.jobs.cancel(realmId, kind.name, String(id));
}

/** Errors that are not reported because the sender no longer exists. */
const SILENT = new Set<unknown>(['REALM_DEACTIVATED', 'USER_DEACTIVATED']);

export const isSilentFailure = (error: unknown): boolean => error instanceof DomainError && SILENT.has(error.code);

/** Requires an active realm and owner (users §20.5). @throws DomainError REALM_DEACTIVATED, USER_DEACTIVATED */
export async function requireActiveOwner(
  { realms, users }: Pick<Repositories | Transaction, 'realms' | 'users'>,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
): Promise<void> {
  const realm = await realms.get(realmId);
  if (realm.isDeactivated) throw realmDeactivated();
  const user = await users.find(realmId, userId);
  if (!user?.isActive) throw accountDeactivated();
}

/** Returns the text to store for a failure. */
export const failureOf = (error: unknown): string =>
  error instanceof DomainError ? error.message : 'Internal server error';

const NOTHING_TO_DO: JobWork = async () => {};

/** Sends scheduled messages after the checks of `POST /messages` at that time, or stores the failure (users §20.5). */
export class DeliverScheduledMessage implements JobHandler<DeliveryPayload> {
  static readonly inject = ['unitOfWork', MessageSender, SystemMessages, 'clock'] as const;

  readonly kind = SCHEDULED_MESSAGE_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly sender: MessageSender,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  async prepare(job: Job<DeliveryPayload>): Promise<JobWork> {
    const message = await this.uow.read(job.realmId, async (reads) => {
      const found = await findWaiting(reads, job);
      if (found) await this.requireDeliverable(reads, found);
      return found;
    });
    if (!message) return NOTHING_TO_DO;
    const { realmId, userId, clientName, to, topic, content, isReadBySender } = message;
    const caller: Caller = { realmId, userId, clientName };
    const asked = await this.sender.review.ask(caller, { to, topic, content });
    const prepared = await this.sender.prepare(caller, asked);
    // A concurrent edit replaces this job, so its work does not run.
    return async (tx) => {
      await this.requireDeliverable(tx, message);
      const checked = await this.sender.check(tx, caller, prepared);
      await this.sender.send(tx, caller, checked, { isReadBySender, echo: null });
      await tx.scheduledMessages.update({ ...message, status: 'sent', content: '', renderedContent: '' });
      await SCHEDULED_MESSAGE_LIST.publish(tx, message, { type: 'scheduled_message.removed', id: message.id });
    };
  }

  async giveUp(tx: Transaction, job: Job<DeliveryPayload>, error: unknown): Promise<void> {
    const found = await findWaiting(tx, job);
    if (!found) return;
    const message: ScheduledMessage = { ...found, status: 'failed', failure: failureOf(error) };
    await tx.scheduledMessages.update(message);
    if (isSilentFailure(error)) return;
    await SCHEDULED_MESSAGE_LIST.publish(tx, message, { type: 'scheduled_message.changed', message });
    const { realmId, userId } = message;
    const realm = await tx.realms.get(realmId);
    const person = await tx.users.get(realmId, userId);
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

/** Deliberate: two spaces after the time, as in the reference server. */
export const failureNotice = ({ dueAt, failure }: Pick<ScheduledMessage, 'dueAt' | 'failure'>): string =>
  [
    `The message you scheduled for <time:${dateTime(dueAt)}>  was not sent because of the following error:`,
    `> ${failure}`,
    '[View scheduled messages](#scheduled)',
  ].join('\n\n');

/** Formats a time like `2026-05-10 11:00:00+00:00`. */
const dateTime = (time: UnixSeconds): string =>
  new Date(time * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00:00');

/** Sends reminders as direct messages from the notification bot, however late (users §21). */
export class DeliverReminder implements JobHandler<DeliveryPayload> {
  static readonly inject = ['unitOfWork', SystemMessages, 'realmUrls'] as const;

  readonly kind = REMINDER_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
  ) {}

  async prepare({ realmId, payload }: Job<DeliveryPayload>): Promise<JobWork> {
    const found = await this.uow.read(realmId, async (reads) => {
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
      const person = await tx.users.get(realmId, reminder.userId);
      await this.systemMessages.sendDirect(tx, realm, person, text, { actor }, ahead);
      await REMINDER_LIST.remove(tx, reminder);
    };
  }

  /** Publishes no event; the failure appears in the list of reminders. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<DeliveryPayload>, error: unknown): Promise<void> {
    const reminder = await tx.reminders.find(realmId, payload.id as ReminderId);
    if (reminder) await tx.reminders.update({ ...reminder, failure: failureOf(error) });
  }

  /** Renders the current message, or the stored version if the user can no longer read it. A deleted message is not quoted. */
  private async textOf(reads: Repositories, { realmId, userId, messageId, note, content }: Reminder): Promise<string> {
    const realm = await reads.realms.get(realmId);
    const actor = await reads.actors.get({ realmId, userId });
    try {
      return reminderText(await loadReminded(reads, actor, realm, messageId), note, this.realmUrls.urlOf(realm));
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNKNOWN_MESSAGE')) throw error;
      const isDeleted = (await reads.messages.list(realmId, [messageId])).length === 0;
      return isDeleted ? deletedReminderText(note) : content;
    }
  }
}

declare module '../kernel/feature-types.js' {
  interface PersonCopyParts {
    readonly scheduledMessages: readonly ScheduledMessage[];
    readonly reminders: readonly Reminder[];
  }
  interface IdKindParts {
    /** Scheduled messages and reminders share one id sequence. */
    scheduled: ScheduledMessageId | ReminderId;
  }
}

const addressee: shape.Shape<object> = (value, path) => {
  const kind = shape.oneOf('channelId', 'userIds')(shape.record(value, path).kind, `${path}.kind`);
  return kind === 'channelId'
    ? { kind, ...shape.object({ id: shape.anyId })(value, path) }
    : { kind, ...shape.object({ ids: shape.list(shape.anyId, 100_000) })(value, path) };
};

const EXPORTED_MESSAGES: ExportedRows<ScheduledMessage> = {
  idKind: 'scheduled',
  noun: 'scheduled message',
  shape: {
    to: addressee,
    topic: shape.name,
    content: shape.content,
    renderedContent: htmlShape,
    dueAt: shape.time,
    clientName: shape.name,
    isReadBySender: shape.flag,
    status: shape.oneOf('waiting', 'failed', 'sent'),
    failure: shape.orNull(shape.text(10_000)),
  },
  max: 100_000,
  covered(message, { channelIds, userIds }) {
    const { to } = message;
    const isCovered = to.kind === 'channelId' ? channelIds.has(to.id) : to.ids.every((id) => userIds.has(id));
    return isCovered ? message : null;
  },
  imported: ({ to, content, renderedContent }, { channels, users, rewriter }) => ({
    to:
      to.kind === 'channelId'
        ? { kind: 'channelId', id: channels.get(to.id) }
        : { kind: 'userIds', ids: users.list(to.ids) },
    content: rewriter.markdown(content),
    renderedContent: rewriter.html(renderedContent),
  }),
  async added(tx, message) {
    if (message.status === 'waiting') await planDelivery(tx, SCHEDULED_MESSAGE_JOB, message);
  },
};

const EXPORTED_REMINDERS: ExportedRows<Reminder> = {
  idKind: 'scheduled',
  noun: 'reminder',
  shape: {
    messageId: shape.anyId,
    note: shape.text(10_000),
    content: shape.content,
    renderedContent: htmlShape,
    dueAt: shape.time,
    failure: shape.orNull(shape.text(10_000)),
  },
  max: 100_000,
  imported: ({ messageId, content, renderedContent }, { messages, rewriter }) => ({
    // The message may have been deleted.
    messageId: messages.find(messageId) ?? messageId,
    content: rewriter.markdown(content),
    renderedContent: rewriter.html(renderedContent),
  }),
  async added(tx, reminder) {
    if (reminder.failure === null) await planDelivery(tx, REMINDER_JOB, reminder);
  },
};

export const DELIVERY_FEATURE = {
  rows: {
    scheduledMessages: { ...SCHEDULED_MESSAGE_LIST.rows, exported: EXPORTED_MESSAGES },
    reminders: { ...REMINDER_LIST.rows, exported: EXPORTED_REMINDERS },
  },
};
