export type { Caller } from './caller.js';
export type { Cancellation } from './cancellation.js';
export type { Clock, Randomness } from './clock.js';
export {
  type DetailsOf,
  type DetailsParameter,
  DomainError,
  declaredErrors,
  type ErrorCode,
} from './errors.js';
export type { EventLoop } from './event-loop.js';
export { escapeHtml } from './html.js';
export type {
  ChannelFolderId,
  ChannelId,
  CustomEmojiId,
  DefaultChannelGroupId,
  DeviceId,
  DraftId,
  EventSeq,
  ExportId,
  FileId,
  GroupId,
  JobId,
  MessageId,
  Ordinal,
  ProfileFieldId,
  RealmId,
  RecipientId,
  ReminderId,
  ScheduledMessageId,
  SessionId,
  SnippetId,
  UnixSeconds,
  UserId,
} from './ids.js';
export { endOfString, parseJson, replaceFractionals } from './json.js';
export { type Decision, enforce } from './permission.js';
export type { ReportProblem } from './problem-log.js';
export { type AddressedRealm, type RealmUrls, SERVER_ITSELF } from './realm-urls.js';
export { recordOf } from './record-of.js';
export {
  isSettingValue,
  type Registry,
  type SettingChanges,
  type SettingDefinition,
  type SettingValue,
  type SettingValues,
  settingValues,
} from './settings.js';
export { slicesOf } from './slices.js';
export { SparingWork } from './sparing-work.js';
export {
  compareCodePoints,
  foldCase,
  isLongerThan,
  isShorterThan,
  pieceOf,
  takeCodePoints,
  toSingleLine,
  trim,
} from './text.js';
export type { CancelTimer, Timers } from './timers.js';
export type { Repositories, Transaction, UnitOfWork, WriteOptions } from './unit-of-work.js';
export { WorkQueue, type WorkQueueOptions } from './work-queue.js';
