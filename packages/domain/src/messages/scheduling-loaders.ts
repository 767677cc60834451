import type { Snapshot } from '../kernel/snapshot.js';
import { MAX_REMINDERS, type Reminder } from './reminder.js';
import { MAX_SCHEDULED_MESSAGES, type ScheduledMessage } from './scheduled-message.js';

/** The viewer's that were not sent, in the order of their times. */
export const loadScheduledMessages = ({ caller, repositories }: Snapshot): Promise<readonly ScheduledMessage[]> =>
  repositories.scheduledMessages.listUnsent(caller.realmId, caller.userId, MAX_SCHEDULED_MESSAGES);

/** The viewer's, in the order of their times. */
export const loadReminders = ({ caller, repositories }: Snapshot): Promise<readonly Reminder[]> =>
  repositories.reminders.list(caller.realmId, caller.userId, MAX_REMINDERS);
