export {
  AFTER_ALERT_WORD,
  alertSegment,
  alertSegments,
  mayAlertWordBegin,
} from './alert-segments.js';
export { BotOwnerWarnings } from './bot-owner-warnings.js';
export { type FlagChange, type FlagChangeInput, parseFlagChange } from './change-flags.js';
export { SendGroupMembershipNotices } from './group-membership-notices.js';
export {
  type EditedText,
  HISTORICAL,
  MAX_MESSAGE_LENGTH,
  type Message,
  type NewMessage,
  type PersonalFlags,
  type SentFlags,
} from './message.js';
export type { ArchivedMessage, ArchiveSelection, MessageArchive } from './message-archive.js';
export {
  type ChannelTopic,
  type ConditionSubject,
  EVERY_MESSAGE,
  type MessageCondition,
  matchesCondition,
  NO_MESSAGE,
  not,
  type SimpleCondition,
  type ViewerFlag,
} from './message-condition.js';
export type {} from './message-delivery.js';
export {
  type EditHistoryVisibility,
  MAX_EDITED_TEXT,
  MAX_EDITS,
  type MessageEdit,
  type MessageEditRepository,
  type SharedEdit,
  visibleEdits,
} from './message-edit.js';

import './message-errors.js';

export type { MessageEventTypes, MessageLocation, MovePropagation, ReceivedFlags } from './message-events.js';
export type { HookedMessage, MessageHooks } from './message-hooks.js';
export {
  type LoadedUnread,
  loadNewestMessageId,
  loadRecentConversations,
  loadStarredIds,
  loadUnread,
} from './message-loaders.js';
export type { MessageMoves, MoveTarget } from './message-moves.js';
export type { Anchor, MessagePage, PageRange } from './message-page.js';
export type { MessageFilter, MessageListEntry, MessagePageReads, Viewer } from './message-page-reads.js';
export { MESSAGE_PROPERTIES, type MessageProperty } from './message-properties.js';
export type { MessageRepository, SubmessageSummary } from './message-repository.js';
export type { MessageParts, MessageText, MessageView, Submessage, UserSummary } from './message-view.js';
export { receivedMessagesIn } from './narrow.js';
export { findNarrowOperator, type NarrowTerm, narrowOperatorNames, type OperandForm } from './narrow-operators.js';
export { channelUrl, messageUrl, topicUrl } from './narrow-urls.js';
export { OwnTextParser } from './own-text-parser.js';
export { type ChannelMove, type Ownership, ownershipOf, type Span } from './ownership.js';
export type {
  MutedSender,
  PersonalMessages,
  UnreadConversation,
  UnreadMessage,
  UnreadOverview,
} from './personal-messages.js';
export { receivedFlags } from './queue-narrow.js';
export {
  affectedRanges,
  countRead,
  extendLatest,
  findFirstUnread,
  isOrdinalRead,
  markOrdinals,
  markRangeRead,
  type OrdinalRange,
  type ReadSegment,
  type ReadSetChange,
  unreadRanges,
} from './read-set.js';
export type { Recipient, RecipientRepository } from './recipient.js';
export { REPORT_REASONS, type ReportReason } from './report.js';
export {
  type Highlight,
  type Highlighted,
  holdsPhrases,
  mentionedIn,
  PLAIN_TEXTS,
  type SearchedText,
  searchedText,
  termsOfMessage,
} from './search.js';
export type { SearchIndex, SearchIndexReads } from './search-index.js';
export { isPassedOver, STOP_WORDS } from './stop-words.js';
export { MAX_SUBMESSAGE_KIND_LENGTH, MAX_SUBMESSAGE_LENGTH } from './submessage.js';
export { SystemMessages } from './system-messages.js';
export type { TopicReads, TopicSummary } from './topic-reads.js';
export type { TypingEventTypes, TypingOp } from './typing-events.js';
export * from './use-cases/add-submessage.js';
export * from './use-cases/change-message-flags.js';
export * from './use-cases/change-narrow-flags.js';
export * from './use-cases/delete-message.js';
export * from './use-cases/delete-topic.js';
export * from './use-cases/expire-messages.js';
export * from './use-cases/get-edit-history.js';
export * from './use-cases/get-message.js';
export * from './use-cases/get-messages.js';
export { GetUnread } from './use-cases/get-unread.js';
export * from './use-cases/index-messages.js';
export * from './use-cases/list-readers.js';
export * from './use-cases/list-topics.js';
export * from './use-cases/make-thumbnails.js';
export * from './use-cases/mark-read.js';
export * from './use-cases/match-narrow.js';
export * from './use-cases/notify-typing.js';
export * from './use-cases/purge-archive.js';
export {
  CreateTemporaryFileUrl,
  type ReadableFile,
  ReadFile,
  ReadTemporaryFile,
  ReadThumbnail,
} from './use-cases/read-file.js';
export * from './use-cases/render-markdown.js';
export * from './use-cases/report-message.js';
export * from './use-cases/restore-messages.js';
export * from './use-cases/send-message.js';
export * from './use-cases/spectate-messages.js';
export * from './use-cases/update-message.js';
export { userSummary } from './user-summary.js';
