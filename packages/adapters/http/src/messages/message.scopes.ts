import { parseTopic } from '@parley/domain/channels';
import { directPlace, type MessageId } from '@parley/domain/kernel';
import { type ConversationScope, onMessage, outOfScope, requirePlace, scopeTerms } from '../declarations/scope.js';
import {
  type ChangeMessageFlagsDto,
  type GetMessagesDto,
  type SendMessageDto,
  toSendMessageInput,
  type UpdateMessageDto,
} from './message.dtos.js';

/** Channels and people are named by id, so that no other conversation can be meant. */
export const SENDING: ConversationScope<SendMessageDto> = {
  action: 'write',
  readers: 'limited',
  limit: (dto, caller) => {
    const { to, topic } = toSendMessageInput(dto, caller.clientName);
    if (to.kind === 'userIds') requirePlace(caller, directPlace(caller.userId, to.ids));
    else if (to.kind !== 'channelId') throw outOfScope('With this token, channels and people are named by id.');
    else requirePlace(caller, { kind: 'channel', channelId: to.id, topic: parseTopic(topic ?? '') });
    return {};
  },
};

export const READING_NARROW: ConversationScope<GetMessagesDto> = {
  action: 'read',
  readers: 'shared',
  limit: (dto, caller) => ({ dto: { ...dto, narrow: [...dto.narrow, ...scopeTerms(caller, dto.narrow)] } }),
};

export const EDITING: ConversationScope<UpdateMessageDto> = {
  action: 'write',
  readers: 'limited',
  limit: (dto) => {
    if (dto.topic !== undefined || dto.stream_id !== undefined) throw outOfScope('This token cannot move messages.');
    return onMessage('write').limit(dto);
  },
};

export const FLAGGING: ConversationScope<ChangeMessageFlagsDto> = {
  action: 'read',
  limit: ({ messages }) => ({ messageIds: messages as MessageId[] }),
};
