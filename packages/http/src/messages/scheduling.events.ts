import type { SchedulingEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { reminder, scheduledMessage } from './scheduling.answers.js';
import { presentReminder, presentScheduledMessage } from './scheduling.presenters.js';

export const SCHEDULING_EVENTS = {
  'scheduled_message.added': toAll(
    form('scheduled_messages', { op: wire.oneOf('add'), scheduled_messages: wire.listOf(scheduledMessage) }),
    ({ message }) => ({
      op: 'add',
      scheduled_messages: [presentScheduledMessage(message)],
    }),
  ),
  'scheduled_message.changed': toAll(
    form('scheduled_messages', { op: wire.oneOf('update'), scheduled_message: scheduledMessage }),
    ({ message }) => ({
      op: 'update',
      scheduled_message: presentScheduledMessage(message),
    }),
  ),
  'scheduled_message.removed': toAll(
    form('scheduled_messages', { op: wire.oneOf('remove'), scheduled_message_id: wire.integer() }),
    ({ id }) => ({ op: 'remove', scheduled_message_id: id }),
  ),
  'reminder.added': toAll(form('reminders', { op: wire.oneOf('add'), reminders: wire.listOf(reminder) }), (event) => ({
    op: 'add',
    reminders: [presentReminder(event.reminder)],
  })),
  'reminder.removed': toAll(form('reminders', { op: wire.oneOf('remove'), reminder_id: wire.integer() }), ({ id }) => ({
    op: 'remove',
    reminder_id: id,
  })),
} satisfies Presenters<keyof SchedulingEventTypes>;
