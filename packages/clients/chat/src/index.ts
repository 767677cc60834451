/**
 * State of a chat, without a user interface.
 *
 * ```ts
 * const chat = new Chat({ gateway: new ParleyClient({ url: '/', credentials: 'session' }) });
 * void chat.run();                                  // registers, then applies events
 * const view = chat.open(parseAddress(location.hash).narrow);
 * view.keys.subscribe((keys) => …);                 // lists are keys …
 * chat.message(key).subscribe((row) => …);          // … and each row is read by its key
 * ```
 *
 * A view reads `Reading`s: `value` observes inside a computation, `subscribe` calls back at once and on every change.
 * In React: `useSyncExternalStore(useCallback((changed) => reading.subscribe(changed), [reading]), () =>
 * reading.peek())`. A reading keeps the identity of its value while nothing in it changed. Rows are read one by one, so
 * that a change re-renders only components that show it:
 *
 * | List | Row |
 * | --- | --- |
 * | `chat.sidebar.channelIds`, `chat.sidebar.channelGroups` | `chat.sidebar.channel(id)`, `chat.sidebar.topics(id)` after `chat.loadTopics(id)` |
 * | `chat.sidebar.directs` | `chat.people.person(userId)` |
 * | `chat.open(narrow).keys` | `chat.message(key)` |
 *
 * Commands (`chat.send`, `chat.commands.react` …) show at once; their promises reject with a `ParleyError` after the
 * change was undone.
 */

export {
  type Address,
  type Destination,
  destinationKey,
  destinationOf,
  formatAddress,
  linkedIn,
  type Narrow,
  type NarrowTerm,
  narrowKey,
  narrowOf,
  parseAddress,
} from './kernel/narrow.js';
export {
  CACHE_FORMAT,
  type CachedChat,
  type CachedMessages,
  type ChatCache,
  type Clock,
  type EventSource,
  type Gateway,
  type OutboxStorage,
  type TabEvents,
  type TabMessage,
  type Tabs,
} from './kernel/ports.js';
export type { Reading } from './kernel/reactive.js';
export {
  ChatState,
  type Fields,
  type PermissionDefinition,
  type PersonState,
  RESOLVED_PREFIX,
} from './kernel/state.js';
export type * from './kernel/view-models.js';
export {
  type Changes,
  isPermission,
  Management,
  type Privacy,
  privacyOf,
  type SettingsSource,
} from './management/management.js';
export type { ChannelRights, GroupRights, ManagementRights } from './management/management-rights.js';
export type { Arrival } from './messages/arrivals.js';
export type { Emoji, Move } from './messages/commands.js';
export {
  type CompletionQuery,
  channelOf as completionChannel,
  completionAt,
  type EmojiName,
  isInCode,
  rankOf,
  resembles,
  type Suggestion,
  suggestionsFor,
} from './messages/completion.js';
export { type ApiNarrow, apiNarrow } from './messages/match.js';
export type { SendRefusal } from './messages/rights.js';
export { type SendWarning, warningsFor } from './messages/warnings.js';
export {
  type Poll,
  type TodoList,
  type Widget,
  type WidgetAction,
  widgetOf,
} from './messages/widgets.js';
export {
  channelBefore,
  parseSearch,
  type SearchSuggestion,
  searchSuggestions,
  UnclearName,
} from './navigation/parse-search.js';
export { formatSearch, isSearch } from './navigation/search.js';
export { Scheduling } from './personal/scheduling.js';
export { Chat, type ChatOptions } from './session/chat.js';
export { MemoryCache } from './session/journal.js';
export { MemoryTabs } from './session/memory-tabs.js';
export { applyEvent, begin, EVENT_RULES, present, ruleFor } from './session/rules.js';
