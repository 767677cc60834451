import type { SchedulingEventTypes } from '@parley/domain/scheduling';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentReminder, presentScheduledMessage } from './scheduling.presenters.js';

export const SCHEDULING_EVENTS = {
  'scheduled_message.added': toAll('scheduled_messages', ({ message }) => ({
    op: 'add',
    scheduled_messages: [presentScheduledMessage(message)],
  })),
  'scheduled_message.changed': toAll('scheduled_messages', ({ message }) => ({
    op: 'update',
    scheduled_message: presentScheduledMessage(message),
  })),
  'scheduled_message.removed': toAll('scheduled_messages', ({ id }) => ({ op: 'remove', scheduled_message_id: id })),
  'reminder.added': toAll('reminders', ({ reminder }) => ({ op: 'add', reminders: [presentReminder(reminder)] })),
  'reminder.removed': toAll('reminders', ({ id }) => ({ op: 'remove', reminder_id: id })),
} satisfies Presenters<keyof SchedulingEventTypes>;
