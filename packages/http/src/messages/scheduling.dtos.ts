import type { Caller, MessageId, ReminderId, ScheduledMessageId } from '@parley/domain/kernel';
import type {
  ChangeScheduledMessageInput,
  CreateReminderInput,
  CreateScheduledMessageInput,
  NamedRecipients,
} from '@parley/domain/messages';
import { MAX_TIME } from '../kernel/calendar.js';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { TooLong } from '../kernel/param-error.js';
import { anyOf, integer, json, listOf, type ParamType } from '../kernel/param-types.js';
import { BooleanParam, IntegerParam, param, TextParam, WordParam } from '../kernel/params.js';
import { CONTENT, isReadingClient } from './message.dtos.js';

const TIME = { max: MAX_TIME };
const TYPES = ['direct', 'private', 'channel', 'stream'] as const;
type MessageType = (typeof TYPES)[number];

const ids = anyOf([integer(), listOf(integer(), { max: MAX_IDS })]);

/** Any JSON that is not too long: what does not fit the type of the message is refused in its turn (users §20.2). */
const recipients: ParamType<NamedRecipients> = json({
  ...ids,
  check(value): NamedRecipients {
    if (Number.isInteger(value)) return { kind: 'id', id: value as number };
    if (Array.isArray(value)) {
      if (value.length > MAX_IDS) throw new TooLong(MAX_IDS, 'items');
      return { kind: 'list', members: value };
    }
    // No JSON, or too much of it.
    if (typeof value === 'symbol' || value instanceof TooLong) ids.check(value);
    return { kind: 'other' };
  },
});

export class CreateScheduledMessageDto {
  @WordParam(TYPES) type!: MessageType;
  @param(recipients) to!: NamedRecipients;
  @TextParam(CONTENT) content!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) topic?: string;
  @IntegerParam(TIME) scheduled_delivery_timestamp!: number;
  @BooleanParam({ optional: true }) read_by_sender?: boolean;
}

export class ChangeScheduledMessageDto {
  @IntegerParam() scheduled_message_id!: number;
  @WordParam(TYPES, { optional: true }) type?: MessageType;
  @param(recipients, { optional: true }) to?: NamedRecipients;
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
  @TextParam({ max: MAX_TEXT_LENGTH }) note = '';
}

export class DeleteReminderDto {
  @IntegerParam() reminder_id!: number;
}

const toKind = (type: MessageType): 'direct' | 'channel' =>
  type === 'direct' || type === 'private' ? 'direct' : 'channel';

export function toCreateScheduledMessageInput(
  dto: CreateScheduledMessageDto,
  { userId, clientName }: Caller,
): CreateScheduledMessageInput {
  const { to } = dto;
  const isToSelf = to.kind === 'list' && to.members.every((id) => id === userId);
  return {
    kind: toKind(dto.type),
    to,
    topic: dto.topic ?? null,
    content: dto.content,
    dueAt: dto.scheduled_delivery_timestamp,
    isReadBySender: dto.read_by_sender ?? (isReadingClient(clientName) && !isToSelf),
  };
}

export const toChangeScheduledMessageInput = (dto: ChangeScheduledMessageDto): ChangeScheduledMessageInput => ({
  id: dto.scheduled_message_id as ScheduledMessageId,
  kind: dto.type === undefined ? null : toKind(dto.type),
  to: dto.to ?? null,
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
