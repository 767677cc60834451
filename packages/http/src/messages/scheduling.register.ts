import { loadReminders, loadScheduledMessages } from '@parley/domain/messages';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { PresentedList } from '../kernel/json-lists.js';
import * as wire from '../kernel/wire-schema.js';
import { reminder, scheduledMessage } from './scheduling.answers.js';
import { presentReminder, presentScheduledMessage } from './scheduling.presenters.js';

export const scheduledMessagesSection: RegisterSection = registerSection({
  name: 'scheduled_messages',
  fields: { scheduled_messages: wire.listOf(scheduledMessage) },
  forSpectators: { scheduled_messages: [] },
  load: (snapshot) => snapshot.load(loadScheduledMessages),
  present: (messages) => ({ scheduled_messages: new PresentedList(messages, presentScheduledMessage) }),
});

export const remindersSection: RegisterSection = registerSection({
  name: 'reminders',
  fields: { reminders: wire.listOf(reminder) },
  forSpectators: { reminders: [] },
  load: (snapshot) => snapshot.load(loadReminders),
  present: (reminders) => ({ reminders: new PresentedList(reminders, presentReminder) }),
});
