import type { Caller, ChannelId, MessageId, ScheduledMessageId, UserId } from '@parley/domain/kernel';
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
  type NamedRecipients,
  REMINDER_LIST,
  type Reminder,
  SCHEDULED_MESSAGE_LIST,
  type ScheduledMessage,
  type SchedulingEventTypes,
} from '@parley/domain/writing';
import type { HttpFeature } from '../declarations/feature.js';
import { WireList } from '../declarations/personal-list.js';
import type { Presenters } from '../delivery/event-presenter.js';
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
} from '../params/param-types.js';
import { BooleanParam, IntegerParam, param, TextParam, WordParam } from '../params/params.js';
import * as wire from '../wire/schema.js';
import { CONTENT, isReadingClient } from './message.dtos.js';

const SCHEDULED_CONTENT = {
  content: wire.text(),
  rendered_content: wire.text(),
  scheduled_delivery_timestamp: wire.integer(),
  failed: wire.boolean(),
};

const SCHEDULED_LIST = new WireList<ScheduledMessage>({
  name: 'scheduled_messages',
  element: 'scheduled_message',
  noun: 'scheduled message',
  addsLists: true,
  section: 'users §20.1',
  schema: wire.named(
    'ScheduledMessage',
    wire.fields({
      scheduled_message_id: wire.integer(),
      type: wire.oneOf('stream', 'private'),
      to: wire.named('ScheduledAddressee', wire.anyOf(wire.integer(), wire.listOf(wire.integer()))),
      topic: wire.optional(wire.text()),
      ...SCHEDULED_CONTENT,
    }),
  ),
  present: (message) => ({
    scheduled_message_id: message.id,
    ...(message.to.kind === 'channelId'
      ? { type: 'stream', to: message.to.id, topic: message.topic }
      : { type: 'private', to: message.to.ids }),
    ...presentContent(message),
    failed: message.status === 'failed',
  }),
});

const REMINDERS = new WireList<Reminder>({
  name: 'reminders',
  element: 'reminder',
  noun: 'reminder',
  addsLists: true,
  section: 'users §21',
  schema: wire.named(
    'Reminder',
    wire.fields({
      reminder_id: wire.integer(),
      type: wire.oneOf('private'),
      to: wire.listOf(wire.integer()),
      ...SCHEDULED_CONTENT,
      reminder_target_message_id: wire.integer(),
    }),
  ),
  present: (reminder) => ({
    reminder_id: reminder.id,
    type: 'private',
    to: [reminder.userId],
    ...presentContent(reminder),
    failed: reminder.failure !== null,
    reminder_target_message_id: reminder.messageId,
  }),
});

const presentContent = ({ content, renderedContent, dueAt }: Reminder | ScheduledMessage) => ({
  content,
  rendered_content: renderedContent,
  scheduled_delivery_timestamp: dueAt,
});

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

export class CreateReminderDto {
  @IntegerParam() message_id!: number;
  @IntegerParam(TIME) scheduled_delivery_timestamp!: number;
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Text of the reminder.' }) note = '';
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

export const SCHEDULING = {
  tag: 'Drafts, snippets and schedules',
  routes: () => [
    SCHEDULED_LIST.listRoute(ListScheduledMessages, { withoutPage: 'state' }),
    SCHEDULED_LIST.createRoute(
      CreateScheduledMessage,
      CreateScheduledMessageDto,
      (dto, _request, caller) => toCreateScheduledMessageInput(dto, caller),
      { summary: 'Schedule a message', section: 'users §20.2' },
    ),
    SCHEDULED_LIST.changeRoute(ChangeScheduledMessage, ChangeScheduledMessageDto, toChangeScheduledMessageInput, {
      section: 'users §20.3',
      isStarred: true,
    }),
    SCHEDULED_LIST.deleteRoute(DeleteScheduledMessage, { section: 'users §20.4' }),
    REMINDERS.listRoute(ListReminders, { withoutPage: 'state' }),
    REMINDERS.createRoute(CreateReminder, CreateReminderDto, toCreateReminderInput, {
      summary: 'Set a reminder for a message',
      isStarred: true,
    }),
    REMINDERS.deleteRoute(DeleteReminder, { id: { description: 'Id of the reminder.' } }),
  ],
  events: {
    'scheduled_message.added': SCHEDULED_LIST.added(({ message }) => [message]),
    'scheduled_message.changed': SCHEDULED_LIST.changed(({ message }) => message),
    'scheduled_message.removed': SCHEDULED_LIST.removed(),
    'reminder.added': REMINDERS.added(({ reminder }) => [reminder]),
    'reminder.removed': REMINDERS.removed(),
  } satisfies Presenters<keyof SchedulingEventTypes>,
  errors: { UNKNOWN_SCHEDULED_MESSAGE: { status: 404 }, UNKNOWN_REMINDER: { status: 404 } },
  registerSections: () => [
    SCHEDULED_LIST.registerSection(SCHEDULED_MESSAGE_LIST.load),
    REMINDERS.registerSection(REMINDER_LIST.load),
  ],
} satisfies HttpFeature;
