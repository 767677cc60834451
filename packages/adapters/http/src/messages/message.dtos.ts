import type { ChannelId, MessageId, UserId } from '@parley/domain/kernel';
import type {
  ChangeNarrowFlagsInput,
  FlagChange,
  FlagChangeInput,
  GetMessagesInput,
  MovePropagation,
  NarrowTerm,
  PageRange,
} from '@parley/domain/messages';
import {
  MAX_SUBMESSAGE_KIND_LENGTH,
  MAX_SUBMESSAGE_LENGTH,
  type NotifyTypingInput,
  REPORT_REASONS,
  type ReportMessageInput,
  type ReportReason,
  type SendMessageInput,
  type TypingOp,
  type UpdateMessageInput,
} from '@parley/domain/writing';
import { integer, listOf, MAX_IDS, MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerListParam,
  IntegerParam,
  param,
  TextParam,
  WordParam,
} from '../params/params.js';
import { badParameter, missingArgument } from '../wire/reply.js';
import { PROPAGATE_MODES } from './message.presenters.js';
import { addressee, anchorText, narrow, parseAddressee, parseAnchor, parseAnchorDate } from './narrow-param.js';

/**
 * Loose limit: sending truncates long content, and rendering rejects it with its own error message (messages §1.3,
 * §15.1).
 */
export const CONTENT = { max: 1_000_000 };
const MAX_WIDGET_LENGTH = 10_000;

export class SendMessageDto {
  @WordParam(['direct', 'private', 'channel', 'stream']) type!: 'direct' | 'private' | 'channel' | 'stream';
  @param(addressee, { optional: true }) to?: unknown;
  @TextParam(CONTENT) content!: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, aliases: ['subject'] }) topic?: string;
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) queue_id?: string;
  @TextParam({
    max: MAX_TOKEN_LENGTH,
    optional: true,
    description: 'Id chosen by the client, returned with the message event in the same queue.',
  })
  local_id?: string;
  @BooleanParam({ optional: true }) read_by_sender?: boolean;
  @TextParam({ max: MAX_WIDGET_LENGTH, optional: true, description: 'JSON of a poll or to-do list.' })
  widget_content?: string;
}

/** Clients used by people rather than bots; their users have read what they send (messages §4.1). */
const READING_CLIENTS: ReadonlySet<string> = new Set([
  'zulipandroid',
  'zulipios',
  'zulipdesktop',
  'zulipmobile',
  'zulipelectron',
  'zulipterminal',
  'snipe',
  'website',
  'ios',
  'android',
]);

export function isReadingClient(name: string): boolean {
  const folded = name.toLowerCase();
  return READING_CLIENTS.has(folded) || folded.includes('desktop app');
}

/** @throws HttpRefusal */
export function toSendMessageInput(dto: SendMessageDto, clientName: string): SendMessageInput {
  const isDirect = dto.type === 'direct' || dto.type === 'private';
  const { queue_id: queueId, local_id: localId } = dto;
  return definedFields({
    to: parseAddressee(isDirect ? 'direct' : 'channel', dto.to),
    topic: dto.topic ?? null,
    content: dto.content,
    widget: dto.widget_content,
    isReadBySender: dto.read_by_sender ?? isReadingClient(clientName),
    echo: queueId !== undefined && localId !== undefined ? { queueId, localId } : null,
  });
}

export class GetMessagesDto {
  @param(anchorText(), { optional: true }) anchor?: string;
  @BooleanParam({ optional: true }) include_anchor?: boolean;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, description: 'Time in ISO 8601, with `anchor=date`.' })
  anchor_date?: string;
  @IntegerParam({ min: 0, optional: true }) num_before?: number;
  @IntegerParam({ min: 0, optional: true }) num_after?: number;
  @param(narrow()) narrow: NarrowTerm[] = [];
  @param(listOf(integer({ min: 0 }), { max: MAX_IDS }), {
    optional: true,
    description: 'Ids of the messages to return.',
  })
  message_ids?: number[];
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = true;
  @BooleanParam() apply_markdown = true;
  @BooleanParam() allow_empty_topic_name = false;
  @BooleanParam({ description: 'Whether messages contain data of the application that embeds the chat.' })
  include_application_data = false;
  @BooleanParam({ optional: true, description: 'Former spelling of `anchor=first_unread`.' })
  use_first_unread_anchor?: boolean;
  @WordParam(['newest', 'relevance'], { description: 'Order by which messages of a search are selected.' })
  order: 'newest' | 'relevance' = 'newest';
}

/** Parameters not allowed with `message_ids`, in the order of the error text. */
const RANGE_PARAMETERS = ['num_before', 'num_after', 'anchor', 'include_anchor', 'use_first_unread_anchor'] as const;
const RANGE_AND_IDS = 'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';

/** Checks parameters in the order of messages §5.2. @throws HttpRefusal */
export function toGetMessagesInput(dto: GetMessagesDto): GetMessagesInput {
  if (dto.message_ids === undefined)
    return { narrow: dto.narrow, select: toRange(dto), ...(dto.order === 'relevance' && { byRelevance: true }) };
  if (RANGE_PARAMETERS.some((name) => dto[name] !== undefined)) {
    throw badParameter(`Unsupported parameter combination: ${RANGE_AND_IDS}`, { parameters: RANGE_AND_IDS });
  }
  return { narrow: dto.narrow, select: { ids: dto.message_ids as MessageId[] } };
}

function toRange(dto: GetMessagesDto): PageRange {
  const anchor = toAnchor(dto);
  if (dto.num_before === undefined) throw missingArgument('num_before');
  if (dto.num_after === undefined) throw missingArgument('num_after');
  return { anchor, before: dto.num_before, after: dto.num_after, includeAnchor: dto.include_anchor ?? true };
}

/** Prefers the older parameter for the first unread message, because zulip-term sends it together with `anchor=0`. */
function toAnchor({ anchor, anchor_date, use_first_unread_anchor }: GetMessagesDto): PageRange['anchor'] {
  if (use_first_unread_anchor) return { kind: 'firstUnread' };
  if (anchor === undefined) throw badParameter("Missing 'anchor' argument.");
  return anchor.trim() === 'date' ? { kind: 'date', since: parseAnchorDate(anchor_date) } : parseAnchor(anchor);
}

export class RenderDto {
  @TextParam(CONTENT) content!: string;
}

export class GetMessageDto {
  @IntegerParam() message_id!: number;
  @BooleanParam() apply_markdown = true;
  @BooleanParam() allow_empty_topic_name = false;
}

export class MessageDto {
  @IntegerParam() message_id!: number;
}

const TYPING_OPS: readonly TypingOp[] = ['start', 'stop'];

export class TypingDto {
  @WordParam(TYPING_OPS) op!: TypingOp;
  @WordParam(['direct', 'stream', 'channel']) type: 'direct' | 'stream' | 'channel' = 'direct';
  @IntegerListParam({ max: MAX_IDS, optional: true }) to?: number[];
  @IntegerParam({ optional: true }) stream_id?: number;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true }) topic?: string;
}

/** Converts typing input. Conditionally required parameters have their own error (users §9.1). @throws HttpRefusal */
export function toTypingInput({ op, type, to, stream_id, topic }: TypingDto): NotifyTypingInput {
  if (type === 'direct') {
    if (to === undefined) throw badParameter("Missing 'to' argument");
    return { op, to: { kind: 'direct', userIds: to as UserId[] } };
  }
  if (stream_id === undefined) throw badParameter("Missing 'stream_id' argument");
  return { op, to: { kind: 'channel', channelId: stream_id as ChannelId, topic: topic ?? null } };
}

export class TypingInMessageDto extends MessageDto {
  @WordParam(TYPING_OPS) op!: TypingOp;
}

export class ReportMessageDto extends MessageDto {
  @TextParam({ max: MAX_TOKEN_LENGTH, description: 'Reason for the report.' }) report_type!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) description = '';
}

/** @throws HttpRefusal */
export function toReportInput({ message_id, report_type, description }: ReportMessageDto): ReportMessageInput {
  if (!Object.hasOwn(REPORT_REASONS, report_type)) {
    throw badParameter('Invalid report_type: Value error, Not in the list of possible values');
  }
  return { messageId: message_id as MessageId, reason: report_type as ReportReason, description };
}

export class AddSubmessageDto {
  @IntegerParam() message_id!: number;
  @TextParam({ max: MAX_SUBMESSAGE_KIND_LENGTH, description: 'Type of the attachment: `widget`.' }) msg_type!: string;
  @TextParam({ max: MAX_SUBMESSAGE_LENGTH }) content!: string;
}

export class MatchNarrowDto {
  @IntegerListParam({ max: MAX_IDS, description: 'Ids of the messages to check.' }) msg_ids!: number[];
  @param(narrow()) narrow!: NarrowTerm[];
}

export class UpdateMessageDto {
  @IntegerParam() message_id!: number;
  @TextParam({ ...CONTENT, optional: true }) content?: string;
  @TextParam({ max: MAX_TEXT_LENGTH, optional: true, aliases: ['subject'] }) topic?: string;
  @IntegerParam({ min: 0, optional: true }) stream_id?: number;
  @WordParam(Object.values(PROPAGATE_MODES), {
    description: 'Messages of the topic to move: this one, this and later ones, or all.',
  })
  propagate_mode: string = PROPAGATE_MODES.one;
  @BooleanParam({ description: 'Whether to post a notice in the old topic.' }) send_notification_to_old_thread = false;
  @BooleanParam({ description: 'Whether to post a notice in the new topic.' }) send_notification_to_new_thread = true;
  @TextParam({
    max: MAX_TEXT_LENGTH,
    optional: true,
    description: 'SHA-256 of the text being replaced; the request is rejected if the current text differs.',
  })
  prev_content_sha256?: string;
}

const PROPAGATIONS = Object.keys(PROPAGATE_MODES) as MovePropagation[];

export const toUpdateMessageInput = (dto: UpdateMessageDto): UpdateMessageInput => ({
  messageId: dto.message_id as MessageId,
  content: dto.content ?? null,
  topic: dto.topic ?? null,
  channelId: (dto.stream_id as ChannelId | undefined) ?? null,
  propagation: PROPAGATIONS.find((mode) => PROPAGATE_MODES[mode] === dto.propagate_mode)!,
  notifiesOldThread: dto.send_notification_to_old_thread,
  notifiesNewThread: dto.send_notification_to_new_thread,
  previousDigest: dto.prev_content_sha256 ?? null,
});

export class GetEditHistoryDto {
  @IntegerParam() message_id!: number;
  @BooleanParam() allow_empty_topic_name = false;
}

export class DeleteMessageDto {
  @IntegerParam() message_id!: number;
}

export class DeleteTopicDto {
  @IntegerParam() stream_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH }) topic_name!: string;
}

export class ChangeMessageFlagsDto {
  @IntegerListParam({ max: MAX_IDS, description: 'Ids of the messages.' }) messages!: number[];
  @TextParam({ max: MAX_TEXT_LENGTH }) op!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) flag!: string;
}

export class ChangeNarrowFlagsDto {
  @param(anchorText()) anchor!: string;
  @BooleanParam() include_anchor = true;
  @IntegerParam({ min: 0 }) num_before!: number;
  @IntegerParam({ min: 0 }) num_after!: number;
  @param(narrow()) narrow!: NarrowTerm[];
  @TextParam({ max: MAX_TEXT_LENGTH }) op!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) flag!: string;
}

/** @throws HttpRefusal */
export const toChangeNarrowFlagsInput = (dto: ChangeNarrowFlagsDto): ChangeNarrowFlagsInput => ({
  narrow: dto.narrow,
  range: {
    anchor: parseAnchor(dto.anchor),
    before: dto.num_before,
    after: dto.num_after,
    includeAnchor: dto.include_anchor,
  },
  ...toFlagChange(dto),
});

const EDITABLE_FLAGS: readonly FlagChange['flag'][] = ['read', 'starred', 'collapsed'];
const FIXED_FLAGS: readonly string[] = [
  'mentioned',
  'stream_wildcard_mentioned',
  'topic_wildcard_mentioned',
  'group_mentioned',
  'has_alert_word',
  'historical',
];

/** Converts without validation; the use case validates the values. */
export const toFlagChange = ({ op, flag }: { readonly op: string; readonly flag: string }): FlagChangeInput => ({
  op,
  flag: EDITABLE_FLAGS.find((name) => name === flag) ?? { name: flag, isFixed: FIXED_FLAGS.includes(flag) },
});

export class MarkChannelReadDto {
  @IntegerParam() stream_id!: number;
}

export class MarkTopicReadDto {
  @IntegerParam() stream_id!: number;
  @TextParam({ max: MAX_TEXT_LENGTH }) topic_name!: string;
}
