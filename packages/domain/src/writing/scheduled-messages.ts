import type { FileUser } from '../files/files.use-cases.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, RealmId, ReminderId, ScheduledMessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { PersonalList } from '../kernel/personal-list.js';
import type { FoundUserRowReads, FoundUserRows, UserRow } from '../kernel/rows.js';
import { MAX_KEPT_TEXT_BYTES } from '../kernel/text.js';
import { otherParticipants } from '../messages/message.js';
import type { Addressee } from './message-sender.js';
import type { Reminder } from './reminders.js';

/** Recipient by ids, since names may change before delivery. */
export type ScheduledAddressee = Extract<Addressee, { kind: 'channelId' | 'userIds' }>;

/** Message to be sent at a chosen time. */
export interface ScheduledMessage extends UserRow {
  readonly id: ScheduledMessageId;
  /** Sender of the message. */
  readonly userId: UserId;
  /** User ids are ascending and include the sender only if alone. */
  readonly to: ScheduledAddressee;
  /** `''` for direct messages, and for the empty topic of channels. */
  readonly topic: string;
  /** Markdown. Content and HTML are empty after sending. */
  readonly content: string;
  /** HTML rendered when the message was written. */
  readonly renderedContent: string;
  readonly dueAt: UnixSeconds;
  /** Client that last created or edited the message. */
  readonly clientName: string;
  readonly isReadBySender: boolean;
  /** `sent` messages are kept for a while, so that a late edit gets a specific error. */
  readonly status: 'waiting' | 'failed' | 'sent';
  /** Reason for a failed delivery; null if it did not fail. */
  readonly failure: string | null;
}

/** Maximum number of unsent messages per user. */
export const MAX_SCHEDULED_MESSAGES = 1000;
/** Time for which sent messages are kept. */
export const KEEP_SENT_SECONDS = 30 * 86_400;

/** Maximum delay after which a message is still sent (users §20.5). */
export const MAX_DELAY_SECONDS = 600;

/** @throws DomainError DELIVERY_TIME_PASSED */
export function requireFuture(dueAt: UnixSeconds, now: UnixSeconds): void {
  if (dueAt <= now) throw deliveryTimePassed();
}

export const deliveryTimePassed = () =>
  new DomainError('DELIVERY_TIME_PASSED', 'Scheduled delivery time must be in the future.');

/** Recipients in a request, not yet checked against the message type. */
export type NamedRecipients = ChannelId | readonly UserId[];

/** Parses recipients (users §20.2). @throws DomainError INVALID_SCHEDULED_RECIPIENT */
export function parseRecipients(kind: 'channel' | 'direct', to: NamedRecipients, userId: UserId): ScheduledAddressee {
  if (kind === 'channel') {
    if (typeof to !== 'number') throw invalidRecipient('Invalid data type for channel ID');
    return { kind: 'channelId', id: to };
  }
  if (typeof to === 'number') throw invalidRecipient('Invalid data type for recipients');
  return { kind: 'userIds', ids: otherParticipants(to, userId) };
}

const invalidRecipient = (message: string) => new DomainError('INVALID_SCHEDULED_RECIPIENT', message);

/** Lists and counts contain unsent messages, sorted by time. */
export const SCHEDULED_MESSAGE_LIST = new PersonalList<ScheduledMessage>('scheduledMessages', {
  rows: {
    kind: 'scheduledMessage',
    foundBy: 'realm',
    order: ['dueAt', 'id'],
    texts: ['content', 'renderedContent'],
    hidden: { property: 'status', value: 'sent' },
  },
  max: MAX_SCHEDULED_MESSAGES,
  unknown: ['UNKNOWN_SCHEDULED_MESSAGE', 'Scheduled message does not exist'],
  tooMany: ['TOO_MANY_SCHEDULED_MESSAGES', `Too many scheduled messages (limit: ${MAX_SCHEDULED_MESSAGES}).`],
  tooLong: [
    'TOO_MANY_SCHEDULED_MESSAGES',
    `Too much text in scheduled messages (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`,
  ],
  events: {
    added: (message) => ({ type: 'scheduled_message.added', message }),
    changed: (message) => ({ type: 'scheduled_message.changed', message }),
    removed: ({ id }) => ({ type: 'scheduled_message.removed', id }),
  },
});

/** Every implementation passes scheduled-message-repository.contract.ts. */
export interface ScheduledMessageRepository extends FoundUserRows<ScheduledMessage> {
  /** Deletes the user's sent messages that were due before that time. */
  removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void>;
}

/** Protects files linked in scheduled messages from removal (users §20). */
export const SCHEDULED_FILES: FileUser = {
  needsFile: async ({ scheduledMessages }, { realmId, ownerId, pathId }) => {
    const waiting = await scheduledMessages.list(realmId, ownerId, MAX_SCHEDULED_MESSAGES);
    return waiting.some(({ content }) => content.includes(pathId) || content.includes(encodeURI(pathId)));
  },
};

export const SCHEDULING_ERRORS = declareErrors({
  /** The time is not in the future. */
  DELIVERY_TIME_PASSED: 'invalid',
  /** The caller has no such scheduled message. */
  UNKNOWN_SCHEDULED_MESSAGE: 'unknown',
  /** The message was already sent. */
  SCHEDULED_MESSAGE_SENT: 'conflict',
  /** A channel needs one id, users need a list of ids. */
  INVALID_SCHEDULED_RECIPIENT: 'invalid',
  /** The message type changes between channel and direct without new recipients. */
  SCHEDULED_RECIPIENT_REQUIRED: 'invalid',
  /** A message that is moved to a channel needs a topic. */
  SCHEDULED_TOPIC_REQUIRED: 'invalid',
  /** The request contains no change. */
  SCHEDULED_CHANGE_REQUIRED: 'invalid',
  /** The user has too many scheduled messages, or too much text in them. */
  TOO_MANY_SCHEDULED_MESSAGES: 'conflict',
  /** The server was down when the message was due; only stored with the message. */
  DELIVERY_TOO_LATE: 'conflict',
  /** The caller has no such reminder. */
  UNKNOWN_REMINDER: 'unknown',
  /** Longer than 1,000 characters. */
  REMINDER_NOTE_TOO_LONG: 'invalid',
  /** The user has too many reminders, or too much text in them. */
  TOO_MANY_REMINDERS: 'conflict',
});

type SchedulingErrors = typeof SCHEDULING_ERRORS;

/** Events sent to the owner of the message or reminder (users §20, §21). */
export interface SchedulingEventTypes {
  'scheduled_message.added': { readonly message: ScheduledMessage };
  'scheduled_message.changed': { readonly message: ScheduledMessage };
  /** Sent when a message was deleted or delivered. */
  'scheduled_message.removed': { readonly id: ScheduledMessageId };
  'reminder.added': { readonly reminder: Reminder };
  /** Sent when a message was deleted or delivered. */
  'reminder.removed': { readonly id: ReminderId };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    scheduledMessages: [reads: FoundUserRowReads<ScheduledMessage>, repository: ScheduledMessageRepository];
  }
  interface ErrorCodes extends SchedulingErrors {}
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
