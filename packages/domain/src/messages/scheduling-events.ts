import type { FileUser } from '../files/use-cases/sweep-files.js';
import { users } from '../kernel/audience.js';
import type { DomainEvent, FeatureParts } from '../kernel/event.js';
import type { RealmId, ReminderId, ScheduledMessageId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Reminder } from './reminder.js';
import { SCHEDULED_FILES } from './scheduled-files.js';
import type { ScheduledMessage } from './scheduled-message.js';

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
