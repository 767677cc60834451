import { type ChannelId, escapeHtml, type MessageId } from '@parley/domain/kernel';
import {
  ChangeMessageFlags,
  ChangeNarrowFlags,
  GetEditHistory,
  GetMessage,
  GetMessages,
  ListReaders,
  MarkRead,
  type MarkReadInput,
  MatchNarrow,
  type MessageEventTypes,
  type NarrowTerm,
  SpectateMessage,
  SpectateMessages,
} from '@parley/domain/messages';
import {
  AddSubmessage,
  DeleteMessage,
  DeleteTopic,
  RenderMarkdown,
  ReportMessage,
  SendMessage,
  type TypingEventTypes,
  UpdateMessage,
} from '@parley/domain/writing';
import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { onMessage, SHARED_ONLY, scopeTerms } from '../declarations/scope.js';
import type { Presenters } from '../delivery/event-presenter.js';
import { attachment, presentFile } from '../files/files.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { NoParameters } from '../params/params.js';
import { success, type WireErrors } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';
import {
  AddSubmessageDto,
  ChangeMessageFlagsDto,
  ChangeNarrowFlagsDto,
  DeleteMessageDto,
  DeleteTopicDto,
  GetEditHistoryDto,
  GetMessageDto,
  GetMessagesDto,
  MarkChannelReadDto,
  MarkTopicReadDto,
  MatchNarrowDto,
  MessageDto,
  RenderDto,
  ReportMessageDto,
  SendMessageDto,
  toChangeNarrowFlagsInput,
  toFlagChange,
  toGetMessagesInput,
  toReportInput,
  toSendMessageInput,
  toUpdateMessageInput,
  UpdateMessageDto,
} from './message.dtos.js';
import { EDIT_PART, presentMessageHistory } from './message.edits.js';
import { MESSAGE_EVENTS } from './message.events.js';
import {
  CHANGED_FLAGS,
  CHANGED_NARROW,
  MESSAGE_HISTORY,
  MESSAGE_PAGE,
  NARROW_MATCHES,
  ONE_MESSAGE,
  presentChangedNarrow,
  presentGetMessage,
  presentIgnoredChannels,
  presentSentMessage,
  SENT_MESSAGE,
  SUBMESSAGE_PART,
} from './message.presenters.js';
import {
  newestMessageSection,
  recentConversationsSection,
  starredMessagesSection,
  stopWordsSection,
  unreadSection,
} from './message.register.js';
import { EDITING, FLAGGING, READING_NARROW, SENDING } from './message.scopes.js';
import { MessagePagePresenter, type PageForm, readMessagePage, readNarrowMatches } from './message-page.js';
import { TYPING_EVENTS, typingRoutes } from './typing.js';

export const MESSAGE_WIRE_ERRORS = {
  UNKNOWN_DESTINATION: {
    code: 'STREAM_DOES_NOT_EXIST',
    fields: { channelName: 'stream', channelId: 'stream_id' },
    present: { channelName: escapeHtml },
    text: ({ channelName }) =>
      channelName === undefined ? undefined : `Channel '${escapeHtml(channelName)}' does not exist`,
  },
  INVALID_NARROW: { code: 'BAD_NARROW', fields: { description: 'desc' } },
  CANNOT_VIEW_FILE: { status: 403 },
  CHANNEL_WILDCARD_NOT_ALLOWED: { code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' },
  TOPIC_WILDCARD_NOT_ALLOWED: { code: 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED' },
  AUDIENCE_GREW: { status: 409, code: 'AUDIENCE_GREW' },
  READ_CONTEXT_FULL: { status: 409, code: 'READ_CONTEXT_FULL' },
  READ_CONTEXT_REQUIRED: { code: 'READ_CONTEXT_REQUIRED' },
  TOO_MANY_READERS: { status: 409, code: 'TOO_MANY_READERS' },
  UNKNOWN_READ_CONTEXT: { status: 404, code: 'UNKNOWN_READ_CONTEXT' },
  MOVE_TIME_LIMIT_EXCEEDED: {
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    fields: {
      firstMessageIdAllowedToMove: 'first_message_id_allowed_to_move',
      totalMessagesInTopic: 'total_messages_in_topic',
      totalMessagesAllowedToMove: 'total_messages_allowed_to_move',
    },
  },
} as const satisfies WireErrors;

const WEB_PUBLIC: readonly NarrowTerm[] = [{ operator: 'channels', operand: 'web-public', negated: false }];

/** Total length of texts cached for callers with tokens, in characters. */
const SCOPED_TEXTS = 4 * 1024 * 1024;

export function messageRoutes(parts: RouteParts): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    ...messagePageRoutes(parts, scheduler),
    ...singleMessageRoutes(parts, scheduler),
    ...changeRoutes(),
    ...flagRoutes(),
    ...reportAndVoteRoutes(),
    ...readMarkRoutes(),
  ];
}

function messagePageRoutes(
  { realmUrls, messageParts: parts }: RouteParts,
  scheduler: YieldingScheduler,
): readonly Route[] {
  const page = new MessagePagePresenter(realmUrls);
  // Edits name other conversations that a message was in.
  const pageOfScope = new MessagePagePresenter(realmUrls, SCOPED_TEXTS, 'none');
  const pageForm = (dto: GetMessagesDto, request: Request, hasAccount: boolean): PageForm => ({
    withExternalIds: hasAccount,
    withData: hasAccount && dto.include_application_data,
    asHtml: dto.apply_markdown,
    clientGravatar: dto.client_gravatar,
    allowEmptyTopicName: dto.allow_empty_topic_name,
    client: request.variant,
    parts,
  });
  return [
    route('POST', '/messages', {
      summary: 'Send a message',
      section: 'messages §3',
      auth: 'user',
      scope: SENDING,
      allowsWebhookBots: true,
      dto: SendMessageDto,
      useCase: SendMessage,
      toInput: (dto, _request, { clientName }) => toSendMessageInput(dto, clientName),
      response: SENT_MESSAGE,
      present: presentSentMessage,
    }),
    // Custom handler, because the page is presented inside the snapshot's read and long pages are streamed.
    route('GET', '/messages', {
      summary: 'Get messages matching a narrow',
      section: 'messages §5',
      isStarred: true,
      auth: 'user',
      scope: READING_NARROW,
      isExpensive: true,
      dto: GetMessagesDto,
      useCase: GetMessages,
      response: MESSAGE_PAGE,
      handle: async ({ caller, dto, useCase, request }) => {
        const { scope } = caller;
        const isShared = scope?.readers === 'all';
        const form = pageForm(dto, request, !isShared);
        const always = scope && !isShared ? scopeTerms({ ...caller, scope }, dto.narrow) : [];
        const reader = scope
          ? { useCase, caller, page: pageOfScope, form, scheduler, always }
          : { useCase, caller, page, form, scheduler };
        return success(await readMessagePage(reader, toGetMessagesInput(dto)));
      },
    }),
    // The same operation for anonymous browsers.
    route('GET', '/json/messages', {
      summary: 'Get messages of web-public channels without an account',
      section: 'protocol §9',
      auth: 'anyone',
      atRoot: true,
      isExpensive: true,
      dto: GetMessagesDto,
      useCase: SpectateMessages,
      response: MESSAGE_PAGE,
      handle: async ({ caller, dto, useCase, request }) => {
        const form = pageForm(dto, request, false);
        return success(
          await readMessagePage(
            { useCase, caller, page, form, scheduler, always: WEB_PUBLIC },
            toGetMessagesInput(dto),
          ),
        );
      },
    }),
  ];
}

function singleMessageRoutes(
  { realmUrls, messageParts: parts }: RouteParts,
  scheduler: YieldingScheduler,
): readonly Route[] {
  return [
    route('GET', '/json/messages/:message_id', {
      summary: 'Get a message of a web-public channel without an account',
      section: 'protocol §9',
      auth: 'anyone',
      atRoot: true,
      dto: GetMessageDto,
      useCase: SpectateMessage,
      toInput: ({ message_id }) => ({ id: message_id as MessageId }),
      response: ONE_MESSAGE,
      present: (output, { dto, variant }) =>
        presentGetMessage(output, dto, realmUrls, { client: variant, parts, withExternalIds: false }),
    }),
    route('POST', '/messages/render', {
      summary: 'Render Markdown as HTML',
      section: 'messages §15.1',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: RenderDto,
      useCase: RenderMarkdown,
      toInput: ({ content }) => ({ content }),
      response: wire.fields({ rendered: wire.text() }),
      present: (rendered) => ({ rendered }),
    }),
    route('GET', '/messages/matches_narrow', {
      summary: 'Check which messages match a narrow',
      section: 'messages §8',
      isStarred: true,
      withoutPage: 'bots',
      auth: 'user',
      scope: SHARED_ONLY,
      isExpensive: true,
      dto: MatchNarrowDto,
      useCase: MatchNarrow,
      response: NARROW_MATCHES,
      handle: async ({ caller, dto: { msg_ids, narrow }, useCase }) =>
        success(await readNarrowMatches({ useCase, caller, scheduler }, { ids: msg_ids as MessageId[], narrow })),
    }),
    route('GET', '/messages/:message_id', {
      summary: 'Get a message',
      section: 'messages §6',
      auth: 'user',
      scope: { ...onMessage('read'), readers: 'shared' },
      dto: GetMessageDto,
      useCase: GetMessage,
      toInput: ({ message_id }) => ({ id: message_id as MessageId }),
      response: ONE_MESSAGE,
      present: (output, { dto, variant, caller }) =>
        presentGetMessage(output, dto, realmUrls, {
          client: variant,
          parts,
          withExternalIds: caller.scope?.readers !== 'all',
          ...(caller.scope && { editHistory: 'none' }),
        }),
    }),
    route('GET', '/messages/:message_id/history', {
      summary: 'Get the edit history of a message',
      section: 'messages §10',
      isStarred: true,
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: GetEditHistoryDto,
      useCase: GetEditHistory,
      toInput: ({ message_id }) => ({ messageId: message_id as MessageId }),
      response: MESSAGE_HISTORY,
      present: (snapshots, { dto }) => presentMessageHistory(snapshots, dto),
    }),
  ];
}

function changeRoutes(): readonly Route[] {
  return [
    route('PATCH', '/messages/:message_id', {
      summary: 'Edit or move a message',
      section: 'messages §9',
      auth: 'user',
      scope: EDITING,
      dto: UpdateMessageDto,
      useCase: UpdateMessage,
      toInput: toUpdateMessageInput,
      response: wire.fields({ detached_uploads: wire.listOf(attachment) }),
      present: (detached) => ({ detached_uploads: detached.map(presentFile) }),
    }),
    route('DELETE', '/messages/:message_id', {
      summary: 'Delete a message',
      section: 'messages §11',
      isStarred: true,
      auth: 'user',
      scope: onMessage('write'),
      dto: DeleteMessageDto,
      useCase: DeleteMessage,
      toInput: ({ message_id }) => ({ messageId: message_id as MessageId }),
    }),
    route('POST', '/streams/:stream_id/delete_topic', {
      summary: 'Delete a topic with its messages',
      section: 'channels §5.6',
      tag: 'Channels',
      isStarred: true,
      auth: 'user',
      scope: 'account',
      roleRequirements: ['administrator'],
      isExpensive: true,
      dto: DeleteTopicDto,
      useCase: DeleteTopic,
      toInput: ({ stream_id, topic_name }) => ({ channelId: stream_id as ChannelId, topic: topic_name }),
      response: wire.fields({ complete: wire.boolean() }),
      present: (complete) => ({ complete }),
    }),
  ];
}

function flagRoutes(): readonly Route[] {
  return [
    route('POST', '/messages/flags', {
      summary: 'Add or remove a flag of messages',
      section: 'messages §13.1',
      auth: 'user',
      scope: FLAGGING,
      dto: ChangeMessageFlagsDto,
      useCase: ChangeMessageFlags,
      toInput: (dto) => ({ ids: dto.messages as MessageId[], ...toFlagChange(dto) }),
      response: CHANGED_FLAGS,
      present: ({ ignoredChannelIds }, { dto }) => ({
        messages: dto.messages,
        ...presentIgnoredChannels(ignoredChannelIds),
      }),
    }),
    route('POST', '/messages/flags/narrow', {
      summary: 'Add or remove a flag of messages matching a narrow',
      section: 'messages §13.2',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: ChangeNarrowFlagsDto,
      useCase: ChangeNarrowFlags,
      toInput: toChangeNarrowFlagsInput,
      response: CHANGED_NARROW,
      present: presentChangedNarrow,
    }),
    route('GET', '/messages/:message_id/read_receipts', {
      summary: 'List users who have read a message',
      section: 'messages §14',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: MessageDto,
      useCase: ListReaders,
      toInput: ({ message_id }) => ({ messageId: message_id as MessageId }),
      response: wire.fields({ user_ids: wire.listOf(wire.integer()) }),
      present: (user_ids) => ({ user_ids }),
    }),
  ];
}

/** Reports, typing notifications and votes. */
function reportAndVoteRoutes(): readonly Route[] {
  return [
    route('POST', '/messages/:message_id/report', {
      summary: 'Report a message to moderators',
      section: 'messages §15.4',
      auth: 'user',
      scope: 'account',
      dto: ReportMessageDto,
      useCase: ReportMessage,
      toInput: toReportInput,
    }),
    ...typingRoutes(),
    route('POST', '/submessage', {
      summary: 'Vote in a poll or change a to-do list',
      section: 'messages §15.3',
      auth: 'user',
      scope: 'account',
      dto: AddSubmessageDto,
      useCase: AddSubmessage,
      toInput: (dto) => ({ messageId: dto.message_id as MessageId, kind: dto.msg_type, content: dto.content }),
    }),
  ];
}

function readMarkRoutes(): readonly Route[] {
  return [
    route('POST', '/mark_all_as_read', {
      summary: 'Mark all messages as read',
      section: 'messages §13.3',
      auth: 'user',
      scope: 'account',
      isExpensive: true,
      dto: NoParameters,
      useCase: MarkRead,
      toInput: (): MarkReadInput => ({ scope: { kind: 'everything' } }),
      response: wire.fields({ complete: wire.boolean() }),
      present: () => ({ complete: true }),
    }),
    route('POST', '/mark_stream_as_read', {
      summary: 'Mark all messages of a channel as read',
      section: 'messages §13.3',
      withoutPage: 'others',
      auth: 'user',
      scope: 'account',
      dto: MarkChannelReadDto,
      useCase: MarkRead,
      toInput: ({ stream_id }): MarkReadInput => ({ scope: { kind: 'channel', channelId: stream_id as ChannelId } }),
    }),
    route('POST', '/mark_topic_as_read', {
      summary: 'Mark all messages of a topic as read',
      section: 'messages §13.3',
      withoutPage: 'others',
      auth: 'user',
      scope: 'account',
      dto: MarkTopicReadDto,
      useCase: MarkRead,
      toInput: ({ stream_id, topic_name }): MarkReadInput => ({
        scope: { kind: 'topic', channelId: stream_id as ChannelId, topic: topic_name },
      }),
    }),
  ];
}

export const MESSAGES = {
  tag: 'Messages',
  routes: messageRoutes,
  events: { ...MESSAGE_EVENTS, ...TYPING_EVENTS } as Presenters<keyof MessageEventTypes | keyof TypingEventTypes>,
  errors: MESSAGE_WIRE_ERRORS,
  registerSections: () => [
    newestMessageSection,
    unreadSection,
    starredMessagesSection,
    recentConversationsSection,
    stopWordsSection,
  ],
  messageParts: [SUBMESSAGE_PART, EDIT_PART],
} satisfies HttpFeature;
