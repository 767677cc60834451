export { TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
export { DatabaseRefused } from '@parley/sqlite';
export type { HostAuthenticate, HostIdentity } from './authentication/host-authenticate.js';
export { createParley } from './create-parley.js';
export type { Chat, ChatOptions } from './facade/chat.js';
export type { ChannelToCreate, ChatChannels, SubscribersToChange } from './facade/chat-channels.js';
export type {
  ChatMessages,
  MessageChange,
  MessageSelection,
  MessageStream,
  MessageToSend,
} from './facade/chat-messages.js';
export type { ChatUnread, ChatUnreadConversation, ReadScope, UnreadCount } from './facade/chat-unread.js';
export type { ConsumeOptions, Consumer, ConsumerTransaction, EventHandler } from './facade/consumers.js';
export { type ErrorHandlerOptions, errorHandler } from './facade/error-handler.js';
export type { ParleyEvent, ParleyEventType } from './facade/events.js';
export type { Facade } from './facade/facade.js';
export {
  type Hook,
  type HookOptions,
  type HookTypes,
  type OutgoingEdit,
  type OutgoingMessage,
  refuse,
} from './facade/message-hooks.js';
export type { MountedHandler } from './facade/mounted.js';
export type { Parley } from './facade/parley.js';
export type { ChatChannel, ChatMessage, ChatPerson, ChatRealm, ChatUser, OwnChatMessage } from './facade/presented.js';
export type { Realms, RealmToEnsure } from './facade/realms.js';
export type { PersonRef, UserRef } from './facade/references.js';
export type { UserStream, Users, UserToUpsert } from './facade/users.js';
export { createHttpServer, type HttpServerOptions } from './http-server.js';
export type { ReadinessReport } from './observation/readiness.js';
export type { ParleyConfig, ParleyOptions, Storage } from './parley-config.js';
export { StartupError } from './startup-error.js';
