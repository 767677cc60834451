export type { PartProps } from '../element/part.js';
export type { Place } from '../element/place.js';
export type {
  AvatarProps,
  CodeBlockProps,
  Components,
  ImageProps,
  MentionProps,
  MessageActions,
  MessageBodyProps,
  MessageProps,
} from '../services/components.js';
export { Avatar } from './avatar.js';
export { Chat } from './chat.js';
export { Composer } from './composer.js';
export { Conversation } from './conversation.js';
export { ConversationList } from './conversation-list.js';
export { useChat, useConversation, useMessage, useReading, useUnread } from './hooks.js';
export { Inbox, RecentConversations } from './inbox.js';
export { MessageBody } from './message-body.js';
export { Messages } from './messages.js';
export { People } from './people.js';
export { ParleyProvider, type ParleyProviderProps } from './provider.js';
