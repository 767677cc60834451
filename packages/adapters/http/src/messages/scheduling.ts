import type { Caller, ChannelId, MessageId, ReminderId, ScheduledMessageId, UserId } from '@parley/domain/kernel';
import {
  ChangeScheduledMessage,
  type ChangeScheduledMessageInput,
  CreateReminder,
  type CreateReminderInput,
  CreateScheduledMessage,
  type CreateScheduledMessageInput,
  DeleteReminder,
  DeleteScheduledMessage,
  ListReminders,
  ListScheduledMessages,
  loadReminders,
  loadScheduledMessages,
  type NamedRecipients,
  type Reminder,
  type ScheduledMessage,
  type SchedulingEventTypes,
} from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import {
  anyOf,
  integer,
  listOf,
  MAX_IDS,
  MAX_TEXT_LENGTH,
  MAX_TIME,
  NOT_LISTED,
  named,
  type ValueOf,
} from '../kernel/param-types.js';
import { BooleanParam, IntegerParam, NoParameters, param, TextParam, WordParam } from '../kernel/params.js';
import { YieldingScheduler } from '../limits/yielding.js';
import type { WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { CONTENT, isReadingClient } from './message.dtos.js';

const SCHEDULED_CONTENT = {
  content: wire.text(),
  rendered_content: wire.text(),
  scheduled_delivery_timestamp: wire.integer(),
  failed: wire.boolean(),
};

/** Users §20.1. */
export const scheduledMessage = wire.named(
  'ScheduledMessage',
  wire.fields({
    scheduled_message_id: wire.integer(),
    type: wire.oneOf('stream', 'private'),
    to: wire.named('ScheduledAddressee', wire.anyOf(wire.integer(), wire.listOf(wire.integer()))),
    topic: wire.optional(wire.text()),
    ...SCHEDULED_CONTENT,
  }),
);

/** Users §21. */
export const reminder = wire.named(
  'Reminder',
  wire.fields({
    reminder_id: wire.integer(),
    type: wire.oneOf('private'),
    to: wire.listOf(wire.integer()),
    ...SCHEDULED_CONTENT,
    reminder_target_message_id: wire.integer(),
  }),
);

export const SCHEDULING_WIRE_ERRORS = {
  UNKNOWN_SCHEDULED_MESSAGE: { status: 404 },
  UNKNOWN_REMINDER: { status: 404 },
} as const satisfies WireErrors;

const TIME = { max: MAX_TIME };
const TYPES = ['direct', 'private', 'channel', 'stream'] as const;
type MessageType = (typeof TYPES)[number];

/** Id of a channel, or ids of users; the reference server names its first alternative in the error. */
const recipients = named(
  'ScheduledRecipients',
  anyOf([integer(), listOf(integer(), { max: MAX_IDS })], (position) => `${position}["int"] is not an integer`),
);
type Recipients = ValueOf<typeof recipients>;

export class CreateScheduledMessageDto {
  @WordParam(TYPES, { says: NOT_LISTED }) type!: MessageType;
  @param(recipients) to!: Recipients;
  @TextParam(CONTENT) content!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) topic?: string;
  @IntegerParam(TIME) scheduled_delivery_timestamp!: number;
  @BooleanParam({ optional: true }) read_by_sender?: boolean;
}

export class ChangeScheduledMessageDto {
  @IntegerParam() scheduled_message_id!: number;
  @WordParam(TYPES, { optional: true, says: NOT_LISTED }) type?: MessageType;
  @param(recipients, { optional: true }) to?: Recipients;
  @TextParam({ ...CONTENT, optional: true }) content?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) topic?: string;
  @IntegerParam({ ...TIME, optional: true }) scheduled_delivery_timestamp?: number;
}

export class DeleteScheduledMessageDto {
  @IntegerParam() scheduled_message_id!: number;
}

export class CreateReminderDto {
  @IntegerParam() message_id!: number;
  @IntegerParam(TIME) scheduled_delivery_timestamp!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Text of the reminder.' }) note = '';
}

export class DeleteReminderDto {
  @IntegerParam({ description: 'Id of the reminder.' }) reminder_id!: number;
}

const toKind = (type: MessageType): 'direct' | 'channel' =>
  type === 'direct' || type === 'private' ? 'direct' : 'channel';

const toNamedRecipients = (to: Recipients): NamedRecipients =>
  Array.isArray(to) ? (to as UserId[]) : (to as ChannelId);

export function toCreateScheduledMessageInput(
  dto: CreateScheduledMessageDto,
  { userId, clientName }: Caller,
): CreateScheduledMessageInput {
  const { to } = dto;
  const isToSelf = Array.isArray(to) && to.every((id) => id === userId);
  return {
    kind: toKind(dto.type),
    to: toNamedRecipients(to),
    topic: dto.topic ?? null,
    content: dto.content,
    dueAt: dto.scheduled_delivery_timestamp,
    isReadBySender: dto.read_by_sender ?? (isReadingClient(clientName) && !isToSelf),
  };
}

export const toChangeScheduledMessageInput = (dto: ChangeScheduledMessageDto): ChangeScheduledMessageInput => ({
  id: dto.scheduled_message_id as ScheduledMessageId,
  kind: dto.type === undefined ? null : toKind(dto.type),
  to: dto.to === undefined ? null : toNamedRecipients(dto.to),
  topic: dto.topic ?? null,
  content: dto.content ?? null,
  dueAt: dto.scheduled_delivery_timestamp ?? null,
});

export const toCreateReminderInput = (dto: CreateReminderDto): CreateReminderInput => ({
  messageId: dto.message_id as MessageId,
  dueAt: dto.scheduled_delivery_timestamp,
  note: dto.note,
});

export const toScheduledMessageId = (dto: DeleteScheduledMessageDto) => ({
  id: dto.scheduled_message_id as ScheduledMessageId,
});

export const toReminderId = (dto: DeleteReminderDto) => ({ id: dto.reminder_id as ReminderId });

/** Users §20.1. */
export const presentScheduledMessage = (message: ScheduledMessage) => ({
  scheduled_message_id: message.id,
  ...(message.to.kind === 'channelId'
    ? { type: 'stream', to: message.to.id, topic: message.topic }
    : { type: 'private', to: message.to.ids }),
  content: message.content,
  rendered_content: message.renderedContent,
  scheduled_delivery_timestamp: message.dueAt,
  failed: message.status === 'failed',
});

/** Users §21. */
export const presentReminder = (reminder: Reminder) => ({
  reminder_id: reminder.id,
  type: 'private',
  to: [reminder.userId],
  content: reminder.content,
  rendered_content: reminder.renderedContent,
  scheduled_delivery_timestamp: reminder.dueAt,
  failed: reminder.failure !== null,
  reminder_target_message_id: reminder.messageId,
});

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

export function schedulingRoutes(): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    route('GET', '/scheduled_messages', {
      summary: 'List scheduled messages',
      section: 'users §20.1',
      withoutPage: 'state',
      auth: 'user',
      dto: NoParameters,
      useCase: ListScheduledMessages,
      response: wire.fields({ scheduled_messages: wire.listOf(scheduledMessage) }),
      present: (messages) =>
        presentLongList(scheduler, 'scheduled_messages', new PresentedList(messages, presentScheduledMessage)),
    }),
    route('POST', '/scheduled_messages', {
      summary: 'Schedule a message',
      section: 'users §20.2',
      auth: 'user',
      dto: CreateScheduledMessageDto,
      useCase: CreateScheduledMessage,
      toInput: (dto, _request, caller) => toCreateScheduledMessageInput(dto, caller),
      response: wire.fields({ scheduled_message_id: wire.integer() }),
      present: (id) => ({ scheduled_message_id: id }),
    }),
    route('PATCH', '/scheduled_messages/:scheduled_message_id', {
      summary: 'Change a scheduled message',
      section: 'users §20.3',
      isStarred: true,
      auth: 'user',
      dto: ChangeScheduledMessageDto,
      useCase: ChangeScheduledMessage,
      toInput: toChangeScheduledMessageInput,
    }),
    route('DELETE', '/scheduled_messages/:scheduled_message_id', {
      summary: 'Delete a scheduled message',
      section: 'users §20.4',
      auth: 'user',
      dto: DeleteScheduledMessageDto,
      useCase: DeleteScheduledMessage,
      toInput: toScheduledMessageId,
    }),
    route('GET', '/reminders', {
      summary: 'List reminders',
      section: 'users §21',
      withoutPage: 'state',
      auth: 'user',
      dto: NoParameters,
      useCase: ListReminders,
      response: wire.fields({ reminders: wire.listOf(reminder) }),
      present: (reminders) => presentLongList(scheduler, 'reminders', new PresentedList(reminders, presentReminder)),
    }),
    route('POST', '/reminders', {
      summary: 'Set a reminder for a message',
      section: 'users §21',
      isStarred: true,
      auth: 'user',
      dto: CreateReminderDto,
      useCase: CreateReminder,
      toInput: toCreateReminderInput,
      response: wire.fields({ reminder_id: wire.integer() }),
      present: (id) => ({ reminder_id: id }),
    }),
    route('DELETE', '/reminders/:reminder_id', {
      summary: 'Delete a reminder',
      section: 'users §21',
      auth: 'user',
      dto: DeleteReminderDto,
      useCase: DeleteReminder,
      toInput: toReminderId,
    }),
  ];
}

export const SCHEDULING = {
  tag: 'Drafts, snippets and schedules',
  routes: schedulingRoutes,
  events: SCHEDULING_EVENTS,
  errors: SCHEDULING_WIRE_ERRORS,
  registerSections: () => [scheduledMessagesSection, remindersSection],
} satisfies HttpFeature;
