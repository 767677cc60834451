export { DeliverReminder } from './deliver-reminder.js';
export { DeliverScheduledMessage } from './deliver-scheduled-message.js';
export type { NewReminder, Reminder, ReminderRepository } from './reminder.js';
export type {
  NamedRecipients,
  NewScheduledMessage,
  ScheduledAddressee,
  ScheduledMessage,
  ScheduledMessageRepository,
} from './scheduled-message.js';

import './scheduling-errors.js';

export type { SchedulingEventTypes } from './scheduling-events.js';
export { loadReminders, loadScheduledMessages } from './scheduling-loaders.js';
export * from './use-cases/change-scheduled-message.js';
export * from './use-cases/create-reminder.js';
export * from './use-cases/create-scheduled-message.js';
export * from './use-cases/delete-reminder.js';
export * from './use-cases/delete-scheduled-message.js';
export * from './use-cases/list-reminders.js';
export * from './use-cases/list-scheduled-messages.js';
