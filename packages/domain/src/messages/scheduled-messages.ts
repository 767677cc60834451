import type { FileUser } from '../files/files.use-cases.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { type DomainEvent, type FeatureParts, users } from '../kernel/event.js';
import type { ChannelId, RealmId, ReminderId, ScheduledMessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { otherParticipants } from './message.js';
import { MAX_REMINDERS, type Reminder } from './reminders.js';
import type { Addressee } from './send-message.use-cases.js';

/** By ids, since names may change until the message is sent. */
export type ScheduledAddressee = Extract<Addressee, { kind: 'channelId' | 'userIds' }>;

/** A message that its sender wants sent at a time. */
export interface ScheduledMessage {
  readonly id: ScheduledMessageId;
  readonly realmId: RealmId;
  /** The sender. */
  readonly userId: UserId;
  /** People ascending, without the sender unless they are alone. */
  readonly to: ScheduledAddressee;
  /** `''` for direct messages, and for the empty topic of channels. */
  readonly topic: string;
  /** Markdown. Empty once it was sent, as is the HTML. */
  readonly content: string;
  /** HTML, as of when it was written. */
  readonly renderedContent: string;
  readonly dueAt: UnixSeconds;
  /** Of whoever wrote or edited it last. */
  readonly clientName: string;
  readonly isReadBySender: boolean;
  /** `sent` for a while, so that an edit that comes too late is refused with the reason. */
  readonly status: 'waiting' | 'failed' | 'sent';
  /** Why it was not sent; null: it did not fail. */
  readonly failure: string | null;
}

export type NewScheduledMessage = Omit<ScheduledMessage, 'id' | 'status' | 'failure'>;

/** Of one user, sent ones apart. */
export const MAX_SCHEDULED_MESSAGES = 1000;
/** How long it is known of a message that it was sent. */
export const KEEP_SENT_SECONDS = 30 * 86_400;

/** How late a message is still sent (users §20.5). */
export const MAX_DELAY_SECONDS = 600;

/** @throws DomainError DELIVERY_TIME_PASSED */
export function requireFuture(dueAt: UnixSeconds, now: UnixSeconds): void {
  if (dueAt <= now) throw deliveryTimePassed();
}

/** @throws DomainError UNKNOWN_SCHEDULED_MESSAGE */
export function requireOwn(message: ScheduledMessage | null, userId: UserId): ScheduledMessage {
  if (message?.userId === userId) return message;
  throw new DomainError('UNKNOWN_SCHEDULED_MESSAGE', 'Scheduled message does not exist');
}

export const deliveryTimePassed = () =>
  new DomainError('DELIVERY_TIME_PASSED', 'Scheduled delivery time must be in the future.');

/** @throws DomainError TOO_MANY_SCHEDULED_MESSAGES */
export function requireRoomForScheduledMessage(count: number): void {
  if (count < MAX_SCHEDULED_MESSAGES) return;
  throw new DomainError(
    'TOO_MANY_SCHEDULED_MESSAGES',
    `Too many scheduled messages (limit: ${MAX_SCHEDULED_MESSAGES}).`,
  );
}

type Texts = Pick<ScheduledMessage, 'content' | 'renderedContent'>;

/** See `keepsTooMuchText`. `replaced`: null: it is another one. @throws DomainError TOO_MANY_SCHEDULED_MESSAGES */
export function requireRoomForScheduledText(present: number, added: Texts, replaced: Texts | null = null): void {
  if (!keepsTooMuchText(present, textsOf(added), replaced ? textsOf(replaced) : [])) return;
  throw new DomainError(
    'TOO_MANY_SCHEDULED_MESSAGES',
    `Too much text in scheduled messages (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`,
  );
}

const textsOf = ({ content, renderedContent }: Texts): readonly string[] => [content, renderedContent];

/** Whom a request names; whether that fits what kind of message it is, is asked in its turn. */
export type NamedRecipients =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'list'; readonly members: readonly unknown[] }
  | { readonly kind: 'other' };

/** Users §20.2. @throws DomainError INVALID_SCHEDULED_RECIPIENT */
export function parseRecipients(kind: 'channel' | 'direct', to: NamedRecipients, userId: UserId): ScheduledAddressee {
  if (kind === 'channel') {
    if (to.kind !== 'id') throw invalidRecipient('Invalid data type for channel ID');
    return { kind: 'channelId', id: to.id as ChannelId };
  }
  if (to.kind !== 'list') throw invalidRecipient('Invalid data type for recipients');
  if (!to.members.every(Number.isInteger)) throw invalidRecipient('Recipient list may only contain user IDs');
  return { kind: 'userIds', ids: otherParticipants(to.members as readonly UserId[], userId) };
}

const invalidRecipient = (message: string) => new DomainError('INVALID_SCHEDULED_RECIPIENT', message);

export interface ScheduledMessageReads {
  /** Sent ones too; null for those of other realms. */
  find(realmId: RealmId, id: ScheduledMessageId): Promise<ScheduledMessage | null>;
  /** The user's that were not sent, in the order of their times, then of their ids. At most `limit`. */
  listUnsent(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ScheduledMessage[]>;
  countUnsent(realmId: RealmId, userId: UserId): Promise<number>;
  /** Of their texts in both forms, in UTF-8. */
  countUnsentBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

/** Every implementation passes scheduled-message-repository.contract.ts. */
export interface ScheduledMessageRepository extends ScheduledMessageReads {
  /** Waiting. */
  add(message: NewScheduledMessage): Promise<ScheduledMessage>;
  /** All of it but its sender. Without effect where there is none. */
  update(message: ScheduledMessage): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, id: ScheduledMessageId): Promise<void>;
  /** Forgets the user's that were sent, of those due before that time. */
  removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    scheduledMessages: [reads: ScheduledMessageReads, repository: ScheduledMessageRepository];
  }
}

/** Files that somebody's scheduled messages link to are still needed (users §20). */
export const SCHEDULED_FILES: FileUser = {
  needsFile: async ({ scheduledMessages }, { realmId, ownerId, pathId }) => {
    const waiting = await scheduledMessages.listUnsent(realmId, ownerId, MAX_SCHEDULED_MESSAGES);
    return waiting.some(({ content }) => content.includes(pathId) || content.includes(encodeURI(pathId)));
  },
};

export const SCHEDULING_ERRORS = declareErrors({
  /** Of a message or a reminder. */
  DELIVERY_TIME_PASSED: 'invalid',
  UNKNOWN_SCHEDULED_MESSAGE: 'unknown',
  SCHEDULED_MESSAGE_SENT: 'conflict',
  /** A channel and people are named in different ways. */
  INVALID_SCHEDULED_RECIPIENT: 'invalid',
  /** Where the message is to go to a channel now, or to people. */
  SCHEDULED_RECIPIENT_REQUIRED: 'invalid',
  SCHEDULED_TOPIC_REQUIRED: 'invalid',
  SCHEDULED_CHANGE_REQUIRED: 'invalid',
  TOO_MANY_SCHEDULED_MESSAGES: 'conflict',
  /** The server did not run when the message was due. Clients see the text with the message that failed. */
  DELIVERY_TOO_LATE: 'conflict',
  UNKNOWN_REMINDER: 'unknown',
  REMINDER_NOTE_TOO_LONG: 'invalid',
  TOO_MANY_REMINDERS: 'conflict',
});

type SchedulingErrors = typeof SCHEDULING_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends SchedulingErrors {}
}

/** All of them to whom the message or the reminder belongs (users §20, §21). */
export interface SchedulingEventTypes {
  'scheduled_message.added': { readonly message: ScheduledMessage };
  'scheduled_message.changed': { readonly message: ScheduledMessage };
  /** Deleted, or sent. */
  'scheduled_message.removed': { readonly id: ScheduledMessageId };
  'reminder.added': { readonly reminder: Reminder };
  /** Deleted, or sent. */
  'reminder.removed': { readonly id: ReminderId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends SchedulingEventTypes {}
}

export const SCHEDULING_FEATURE = {
  eventFormats: {
    'scheduled_message.added': 1,
    'scheduled_message.changed': 1,
    'scheduled_message.removed': 1,
    'reminder.added': 1,
    'reminder.removed': 1,
  },
  fileUser: SCHEDULED_FILES,
} satisfies FeatureParts<SchedulingEventTypes> & { readonly fileUser: FileUser };

type SchedulingEvent = Extract<DomainEvent, { type: keyof SchedulingEventTypes }>;

export async function publishToOwner(
  tx: Transaction,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
  event: SchedulingEvent,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([userId]) });
}

/** The viewer's that were not sent, in the order of their times. */
export const loadScheduledMessages = ({ caller, repositories }: Snapshot): Promise<readonly ScheduledMessage[]> =>
  repositories.scheduledMessages.listUnsent(caller.realmId, caller.userId, MAX_SCHEDULED_MESSAGES);

/** The viewer's, in the order of their times. */
export const loadReminders = ({ caller, repositories }: Snapshot): Promise<readonly Reminder[]> =>
  repositories.reminders.list(caller.realmId, caller.userId, MAX_REMINDERS);
