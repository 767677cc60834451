import { type ChannelPrivacy, RESOLVED_PREFIX, topicKey } from '../channels/channel.js';
import { type DataFilter, indexedValue } from '../kernel/data-keys.js';
import type { JsonObject } from '../kernel/host-data.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { firstOf } from '../kernel/work.js';
import type { HasProperty, Message, MessageProperty, MessageText, MessageView, PersonalFlags } from './message.js';
import { isFoundBy, type SearchedText, type SearchQuery } from './search.js';

/** One topic of one channel. */
export interface ChannelTopic {
  /** Recipient of the channel. */
  readonly recipientId: RecipientId;
  readonly topicKey: string;
}

export type ViewerFlag = Exclude<keyof PersonalFlags, 'collapsed' | 'historical'>;

/** Elementary conditions on a message. */
export type SimpleCondition =
  /** The message is in one of these channels or direct conversations. */
  | { readonly kind: 'recipient'; readonly recipientIds: readonly RecipientId[] }
  /** The message is in any direct conversation. */
  | { readonly kind: 'direct' }
  /** The current privacy of the message's channel is one of these. */
  | { readonly kind: 'channelPrivacy'; readonly privacies: readonly ChannelPrivacy[] }
  /** The topic has this key, in any channel. An empty key matches the empty topic but no direct messages. */
  | { readonly kind: 'topic'; readonly topicKey: string }
  /** The message is in one of these topics. */
  | { readonly kind: 'channelTopic'; readonly topics: readonly ChannelTopic[] }
  | { readonly kind: 'sender'; readonly userId: UserId }
  | { readonly kind: 'message'; readonly messageId: MessageId }
  /** The message is this one or a newer one. */
  | { readonly kind: 'fromMessage'; readonly messageId: MessageId }
  | { readonly kind: 'property'; readonly property: MessageProperty }
  | ({ readonly kind: 'search' } & SearchQuery)
  /** The user is mentioned by name, non-silently, and not through a group or wildcard. */
  | { readonly kind: 'mentions'; readonly userId: UserId }
  /** The application's data of the message has this value. */
  | ({ readonly kind: 'data' } & DataFilter)
  /** The viewer has this flag; messages never received have the flags of `HISTORICAL`. */
  | { readonly kind: 'flag'; readonly flag: ViewerFlag };

/** Boolean combination of conditions. An empty `anyOf` matches nothing, an empty `allOf` everything. */
export type Combined<Simple> = Simple | Negation<Simple> | Combination<Simple>;

interface Negation<Simple> {
  readonly kind: 'not';
  readonly condition: Combined<Simple>;
}
interface Combination<Simple> {
  readonly kind: 'anyOf' | 'allOf';
  readonly conditions: readonly Combined<Simple>[];
}

/** Condition on a message as seen by a viewer. Plain data from which storages build queries. */
export type MessageCondition = Combined<SimpleCondition>;

export const EVERY_MESSAGE = { kind: 'allOf', conditions: [] } as const;
export const NO_MESSAGE = { kind: 'anyOf', conditions: [] } as const;

export const not = <Simple>(condition: Combined<Simple>): Combined<Simple> => ({ kind: 'not', condition });

/** Message with per-viewer state, for evaluating conditions. */
export interface ConditionSubject {
  readonly message: Pick<Message, 'id' | 'recipientId' | 'channelId' | 'topic' | 'senderId' | HasProperty>;
  /** Null for direct messages. */
  readonly channelPrivacy: ChannelPrivacy | null;
  readonly flags: PersonalFlags;
  /** Called only if a condition depends on the message text. */
  readonly text: () => SearchedText;
  /** Called only if a condition depends on the application's data of the message. */
  readonly data: () => JsonObject;
}

/** Evaluates a condition in memory, with the same result as storage queries. */
export const matchesCondition = (subject: ConditionSubject, condition: MessageCondition): boolean =>
  evaluate(condition, (simple) => holds(subject, simple));

/** Evaluates combinations; `holds` evaluates elementary conditions. */
export function evaluate<Simple extends { readonly kind: string }>(
  condition: Combined<Simple>,
  holds: (simple: Simple) => boolean,
): boolean {
  const isTrue = (each: Combined<Simple>) => evaluate(each, holds);
  if (condition.kind === 'not') return !isTrue((condition as Negation<Simple>).condition);
  if (condition.kind === 'anyOf') return (condition as Combination<Simple>).conditions.some(isTrue);
  if (condition.kind === 'allOf') return (condition as Combination<Simple>).conditions.every(isTrue);
  return holds(condition as Simple);
}

export function holds(
  { message, channelPrivacy, flags, text, data }: ConditionSubject,
  condition: SimpleCondition,
): boolean {
  switch (condition.kind) {
    case 'recipient':
      return condition.recipientIds.includes(message.recipientId);
    case 'direct':
      return message.channelId === null;
    case 'channelPrivacy':
      return channelPrivacy !== null && condition.privacies.includes(channelPrivacy);
    case 'topic':
      return message.channelId !== null && topicKey(message.topic) === condition.topicKey;
    case 'channelTopic': {
      const key = topicKey(message.topic);
      return condition.topics.some((topic) => topic.recipientId === message.recipientId && topic.topicKey === key);
    }
    case 'sender':
      return message.senderId === condition.userId;
    case 'message':
      return message.id === condition.messageId;
    case 'fromMessage':
      return message.id >= condition.messageId;
    case 'property':
      return condition.property === 'isResolved'
        ? message.channelId !== null && message.topic.startsWith(RESOLVED_PREFIX)
        : message[condition.property];
    case 'search':
      return isFoundBy(text(), condition);
    case 'mentions':
      return text().mentionedUserIds.includes(condition.userId);
    case 'data':
      return indexedValue(data(), condition.key) === condition.value;
    case 'flag':
      return flags[condition.flag];
  }
}

/** Narrow with all names resolved. All conditions must match. */
export interface MessageFilter {
  readonly conditions: readonly MessageCondition[];
  /**
   * `own`: only messages that the viewer received or made their own. `shared`: all matching messages; one condition
   * must then restrict channels or channel privacy.
   */
  readonly scope: 'own' | 'shared';
}

export interface Viewer {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

/**
 * Message entry of a page, with the viewer's flags. Its versions tell whether a cached view is still valid; otherwise,
 * `listViews` loads the view.
 */
export interface MessageListEntry {
  readonly id: MessageId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  /** Equal versions imply an equal view. `conversation` covers the channel, or all direct participants as a sum. */
  readonly versions: { readonly message: number; readonly sender: number; readonly conversation: number };
  readonly flags: PersonalFlags;
}

/** Range of message ids, both included. `last` is the largest safe integer if the range is open-ended. */
export interface MessageIdRange {
  readonly first: MessageId;
  readonly last: MessageId;
}

/** Condition for messages with an id in one of the ranges. */
export function inRanges(ranges: readonly MessageIdRange[]): MessageCondition {
  const conditions = ranges.map(({ first, last }): MessageCondition => {
    const from: MessageCondition = { kind: 'fromMessage', messageId: first };
    if (last === Number.MAX_SAFE_INTEGER) return from;
    return { kind: 'allOf', conditions: [from, not({ kind: 'fromMessage', messageId: (last + 1) as MessageId })] };
  });
  return conditions.length === 1 ? firstOf(conditions) : { kind: 'anyOf', conditions };
}

/** Reads message pages by narrow or by ids. Every implementation passes message-page-reads.contract.ts. */
export interface MessagePageReads {
  /** Returns the newest `limit` matches with ids up to `atMost` (null: any), by ascending id. */
  listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]>;
  /** Returns the oldest `limit` matches with ids of at least `atLeast`, by ascending id. */
  listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]>;
  /**
   * Returns the messages that match all conditions, regardless of access, by ascending id. Messages never received by
   * the viewer are historical. Unknown ids are absent.
   */
  listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions?: readonly MessageCondition[],
  ): Promise<readonly MessageListEntry[]>;
  /** Returns views by ascending id; unknown ids are absent. Runs a constant number of statements. */
  listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]>;
  /** Loads only the texts of messages, by ascending id; unknown ids are absent. */
  listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]>;
  /**
   * Returns ascending ranges of ids that contain all messages of the realm sent at or after that time, and no earlier
   * one. Several ranges are possible only if older messages were imported into the realm.
   */
  listIdsSince(realmId: RealmId, since: UnixSeconds): Promise<readonly MessageIdRange[]>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    pages: [reads: MessagePageReads, repository: MessagePageReads];
  }
}
