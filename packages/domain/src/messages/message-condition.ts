import { type ChannelPrivacy, RESOLVED_PREFIX, topicKey } from '../channels/channel.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { HasProperty, Message, MessageProperty, MessageText, MessageView, PersonalFlags } from './message.js';
import { isFoundBy, type SearchedText, type SearchQuery } from './search.js';

/** One topic of one channel. */
export interface ChannelTopic {
  /** Of the channel. */
  readonly recipientId: RecipientId;
  readonly topicKey: string;
}

export type ViewerFlag = Exclude<keyof PersonalFlags, 'collapsed' | 'historical'>;

/** The smallest things that can be said of a message. */
export type SimpleCondition =
  /** In one of these channels and direct conversations. */
  | { readonly kind: 'recipient'; readonly recipientIds: readonly RecipientId[] }
  /** In a direct conversation, whichever. */
  | { readonly kind: 'direct' }
  /** In a channel of one of these kinds, as the channel is now. */
  | { readonly kind: 'channelPrivacy'; readonly privacies: readonly ChannelPrivacy[] }
  /** In a topic with this key, whatever the channel; an empty key is the empty topic of channels, not direct messages. */
  | { readonly kind: 'topic'; readonly topicKey: string }
  /** In one of these topics. */
  | { readonly kind: 'channelTopic'; readonly topics: readonly ChannelTopic[] }
  | { readonly kind: 'sender'; readonly userId: UserId }
  | { readonly kind: 'message'; readonly messageId: MessageId }
  | { readonly kind: 'property'; readonly property: MessageProperty }
  | ({ readonly kind: 'search' } & SearchQuery)
  /** By name and aloud, not through a group or a wildcard. */
  | { readonly kind: 'mentions'; readonly userId: UserId }
  /** Of the viewer's flags; what they never received has those of `HISTORICAL`. */
  | { readonly kind: 'flag'; readonly flag: ViewerFlag };

/** Conditions of whatever kind put together. Nothing is `anyOf` of none, everything `allOf` of none. */
export type Combined<Simple> = Simple | Negation<Simple> | Combination<Simple>;

interface Negation<Simple> {
  readonly kind: 'not';
  readonly condition: Combined<Simple>;
}
interface Combination<Simple> {
  readonly kind: 'anyOf' | 'allOf';
  readonly conditions: readonly Combined<Simple>[];
}

/** Something that is true of a message, to a viewer, or is not. Plain data: storage makes its queries of it. */
export type MessageCondition = Combined<SimpleCondition>;

export const EVERY_MESSAGE = { kind: 'allOf', conditions: [] } as const;
export const NO_MESSAGE = { kind: 'anyOf', conditions: [] } as const;

export const not = <Simple>(condition: Combined<Simple>): Combined<Simple> => ({ kind: 'not', condition });

/** A message and what it is to its viewer: all that conditions are about. */
export interface ConditionSubject {
  readonly message: Pick<Message, 'id' | 'recipientId' | 'channelId' | 'topic' | 'senderId' | HasProperty>;
  /** Null for direct messages. */
  readonly channelPrivacy: ChannelPrivacy | null;
  readonly flags: PersonalFlags;
  /** Asked for only where a condition is about what the message says. */
  readonly text: () => SearchedText;
}

/** Whether a message at hand fulfils a condition. The queries of a storage answer the same. */
export const matchesCondition = (subject: ConditionSubject, condition: MessageCondition): boolean =>
  evaluate(condition, (simple) => holds(subject, simple));

/** `holds` answers for what is not put together. */
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

export function holds({ message, channelPrivacy, flags, text }: ConditionSubject, condition: SimpleCondition): boolean {
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
    case 'property':
      return condition.property === 'isResolved'
        ? message.channelId !== null && message.topic.startsWith(RESOLVED_PREFIX)
        : message[condition.property];
    case 'search':
      return isFoundBy(text(), condition);
    case 'mentions':
      return text().mentionedUserIds.includes(condition.userId);
    case 'flag':
      return flags[condition.flag];
  }
}

/** A narrow with every name resolved. All conditions hold together. */
export interface MessageFilter {
  readonly conditions: readonly MessageCondition[];
  /**
   * `own`: only what the viewer has received or made their own; `shared`: all that the conditions name, received or not,
   * in which case one of them says in which channels, or channels of which privacy, messages are.
   */
  readonly scope: 'own' | 'shared';
}

export interface Viewer {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

/**
 * A message's place in a page: what decides whether a presented form at hand is still true, and what the message is to
 * the viewer. The message itself is fetched with `listViews` only where there is no such form.
 */
export interface MessageListEntry {
  readonly id: MessageId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  /** Same numbers, same view: of the message; of its sender; of the channel, or the sum over a conversation's people. */
  readonly versions: { readonly message: number; readonly sender: number; readonly conversation: number };
  readonly flags: PersonalFlags;
}

/** Pages of messages, of narrows or named one by one. Every implementation passes message-page-reads.contract.ts. */
export interface MessagePageReads {
  /** The newest `limit` of the filter with an id up to `atMost` (null: any); ascending id. */
  listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]>;
  /** The oldest `limit` of the filter with an id from `atLeast` on; ascending id. */
  listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]>;
  /**
   * Those of the messages of which all the conditions hold, whoever may read them: a message the viewer never received
   * shows as historical. Unknown ids are absent; ascending.
   */
  listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions?: readonly MessageCondition[],
  ): Promise<readonly MessageListEntry[]>;
  /** Unknown ids are absent; ascending id. A constant number of statements. */
  listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]>;
  /** Of messages of which nothing but their texts is wanted. Unknown ids are absent; ascending id. */
  listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]>;
  /** The lowest id of the realm's messages that were sent at or after then; null when there is none. */
  findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    pages: [reads: MessagePageReads, repository: MessagePageReads];
  }
}
