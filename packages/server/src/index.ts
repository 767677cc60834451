export { TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
export { DatabaseRefused } from '@parley/storage';
export type { ItemResult } from './facade/bulk.js';
export type {
  ChannelToCreate,
  Chat,
  ChatChannels,
  ChatOptions,
  ChatUnread,
  ChatUnreadConversation,
  EnsuredChannel,
  ReadScope,
  SubscribersToChange,
  UnreadCount,
} from './facade/chat.js';
export type {
  ChatChannel,
  ChatMessage,
  ChatMessages,
  ChatPerson,
  ChatUser,
  MessageChange,
  MessageSelection,
  MessageStream,
  MessageToSend,
  OwnChatMessage,
} from './facade/chat-messages.js';
export type { ConsumeOptions, Consumer, ConsumerTransaction, EventHandler } from './facade/consumers.js';
export type { ParleyEvent, ParleyEventType } from './facade/events.js';
export type { Facade, MountedHandler, Parley } from './facade/facade.js';
export { type ErrorHandlerOptions, errorHandler } from './facade/facade.js';
export type { HoldRef, Holds, HoldToCreate, MessageHold } from './facade/holds.js';
export type { HostAuthenticate, HostIdentity } from './facade/host-authentication.js';
export type { ChatData, SetDataOptions } from './facade/host-data.js';
export type {
  ImportedPerson,
  ImportRef,
  ImportReport,
  Imports,
  ImportToUndo,
  ListedImport,
  RecordsToImport,
  RecordsToWrite,
  UndoneImport,
  VerifiedImport,
  WrittenImport,
} from './facade/imports.js';
export {
  type Hook,
  type HookOptions,
  type HookTypes,
  type OutgoingEdit,
  type OutgoingMessage,
  refuse,
} from './facade/message-hooks.js';
export type { ParleyConfig, ParleyOptions, Storage } from './facade/parley-config.js';
export type { UserErasure, UserStream, Users, UserToUpsert } from './facade/people.js';
export type {
  ChatRealm,
  EnsuredRealm,
  RealmPreset,
  RealmSettingsToSet,
  Realms,
  RealmToCreate,
  RealmToEnsure,
} from './facade/realms.js';
export type { PersonRef, UserRef } from './facade/references.js';
export type { ConversationRef, IssuedToken, Tokens, TokenToCreate } from './facade/tokens.js';
export { createHttpServer, type HttpServerOptions } from './http/http-server.js';
export { StartupError } from './kernel/startup-error.js';
export type { ReadinessReport } from './observation/readiness.js';
export { createParley } from './start/create-parley.js';
