import {
  ChangeScheduledMessage,
  CreateReminder,
  CreateScheduledMessage,
  DeleteReminder,
  DeleteScheduledMessage,
  ListReminders,
  ListScheduledMessages,
} from '@parley/domain/messages';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { reminder, scheduledMessage } from './scheduling.answers.js';
import {
  ChangeScheduledMessageDto,
  CreateReminderDto,
  CreateScheduledMessageDto,
  DeleteReminderDto,
  DeleteScheduledMessageDto,
  toChangeScheduledMessageInput,
  toCreateReminderInput,
  toCreateScheduledMessageInput,
  toReminderId,
  toScheduledMessageId,
} from './scheduling.dtos.js';
import { presentReminder, presentScheduledMessage } from './scheduling.presenters.js';

export function schedulingRoutes(): readonly Route[] {
  const turns = new Turns();
  return [
    route('GET', '/scheduled_messages', {
      auth: 'user',
      dto: NoParameters,
      useCase: ListScheduledMessages,
      answer: wire.fields({ scheduled_messages: wire.listOf(scheduledMessage) }),
      present: (messages) =>
        presentLongList(turns, 'scheduled_messages', new PresentedList(messages, presentScheduledMessage)),
    }),
    route('POST', '/scheduled_messages', {
      auth: 'user',
      dto: CreateScheduledMessageDto,
      useCase: CreateScheduledMessage,
      toInput: (dto, _request, caller) => toCreateScheduledMessageInput(dto, caller),
      answer: wire.fields({ scheduled_message_id: wire.integer() }),
      present: (id) => ({ scheduled_message_id: id }),
    }),
    route('PATCH', '/scheduled_messages/:scheduled_message_id', {
      auth: 'user',
      dto: ChangeScheduledMessageDto,
      useCase: ChangeScheduledMessage,
      toInput: toChangeScheduledMessageInput,
    }),
    route('DELETE', '/scheduled_messages/:scheduled_message_id', {
      auth: 'user',
      dto: DeleteScheduledMessageDto,
      useCase: DeleteScheduledMessage,
      toInput: toScheduledMessageId,
    }),
    route('GET', '/reminders', {
      auth: 'user',
      dto: NoParameters,
      useCase: ListReminders,
      answer: wire.fields({ reminders: wire.listOf(reminder) }),
      present: (reminders) => presentLongList(turns, 'reminders', new PresentedList(reminders, presentReminder)),
    }),
    route('POST', '/reminders', {
      auth: 'user',
      dto: CreateReminderDto,
      useCase: CreateReminder,
      toInput: toCreateReminderInput,
      answer: wire.fields({ reminder_id: wire.integer() }),
      present: (id) => ({ reminder_id: id }),
    }),
    route('DELETE', '/reminders/:reminder_id', {
      auth: 'user',
      dto: DeleteReminderDto,
      useCase: DeleteReminder,
      toInput: toReminderId,
    }),
  ];
}
