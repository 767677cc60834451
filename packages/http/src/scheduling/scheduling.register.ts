import { loadReminders, loadScheduledMessages } from '@parley/domain/scheduling';
import { PresentedList } from '../events/register-answer.js';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentReminder, presentScheduledMessage } from './scheduling.presenters.js';

export const scheduledMessagesSection: RegisterSection = registerSection({
  name: 'scheduled_messages',
  forSpectators: { scheduled_messages: [] },
  load: (snapshot) => snapshot.load(loadScheduledMessages),
  present: (messages) => ({ scheduled_messages: new PresentedList(messages, presentScheduledMessage) }),
});

export const remindersSection: RegisterSection = registerSection({
  name: 'reminders',
  forSpectators: { reminders: [] },
  load: (snapshot) => snapshot.load(loadReminders),
  present: (reminders) => ({ reminders: new PresentedList(reminders, presentReminder) }),
});
