import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../shared/ids.js';
import type { EmailOwner } from '../users/email-visibility.js';
import type { Message, NewMessage, PersonalFlags } from './message.js';
import type { MessageCondition } from './message-condition.js';

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
export interface MessageHead {
  readonly id: MessageId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  /** Same numbers, same view: of the message; of its sender; of the channel, or the sum over a conversation's people. */
  readonly versions: { readonly message: number; readonly sender: number; readonly conversation: number };
  readonly flags: PersonalFlags;
}

/** A user as messages name them; everything that differs by who looks is derived from it. */
export interface PersonView extends EmailOwner {
  readonly fullName: string;
  readonly email: string;
  readonly avatar: { readonly source: 'gravatar' | 'uploaded' | 'generated'; readonly version: number };
  readonly isSystemBot: boolean;
}

/** Something attached to a message for clients to draw: a poll, and every vote in it. */
export interface Submessage {
  readonly id: number;
  readonly messageId: MessageId;
  readonly senderId: UserId;
  readonly kind: 'widget';
  /** JSON, as it was sent. */
  readonly content: string;
}

/** A message with all that is shown of it, whoever looks. */
export interface MessageView {
  readonly message: Message;
  readonly sender: PersonView;
  /** Ascending id. */
  readonly submessages: readonly Submessage[];
  readonly conversation:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly name: string }
    /** Everybody in it, ascending id. */
    | { readonly kind: 'direct'; readonly people: readonly PersonView[] };
}

export interface TopicSummary {
  /** As last spelt. */
  readonly name: string;
  readonly maxMessageId: MessageId;
}

export interface MessageReads {
  find(realmId: RealmId, id: MessageId): Promise<Message | null>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]>;
  /** The newest `limit` of the filter with an id up to `atMost` (null: any); ascending id. */
  listHeadsUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageHead[]>;
  /** The oldest `limit` of the filter with an id from `atLeast` on; ascending id. */
  listHeadsFrom(viewer: Viewer, filter: MessageFilter, atLeast: number, limit: number): Promise<readonly MessageHead[]>;
  /**
   * Those of the messages of which all the conditions hold, whoever may read them: a message the viewer never received
   * shows as historical. Unknown ids are absent; ascending.
   */
  listHeads(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions?: readonly MessageCondition[],
  ): Promise<readonly MessageHead[]>;
  /** Unknown ids are absent; ascending id. A constant number of statements. */
  listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]>;
  /** The lowest id of the realm's messages that were sent at or after then; null when there is none. */
  findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null>;
  hasMessages(realmId: RealmId, recipientId: RecipientId, topicKey?: string): Promise<boolean>;
  /** By topic key: the newest message of each of these topics; topics without any are absent. Costs by the topics named. */
  listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** The same over only those messages that are the viewer's own. */
  listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** Everybody who has sent something to the topic; ascending. Costs by the messages of the topic. */
  listTopicSenders(realmId: RealmId, recipientId: RecipientId, topicKey: string): Promise<readonly UserId[]>;
  /** Spellings that differ only in case are one topic; newest message first. Costs by topics, not by messages. */
  listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** The same over only those messages that are the viewer's own. */
  listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** How many were sent to each recipient since then; recipients without any are absent. */
  countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>>;
}

/** Every implementation passes message-repository.contract.ts. */
export interface MessageRepository extends MessageReads {
  /**
   * Gives the message its id and ordinal. Whoever has an open span of the recipient has received it by that; nothing is
   * written for each of them.
   */
  append(message: NewMessage): Promise<Message>;
  /** Shown with the message from now on. */
  addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage>;
  /**
   * To another channel and topic, or only to another topic of the same channel. Moving between channels: those who do
   * not follow the target lose the messages, and where `isHistoryProtected` its followers gain them, read.
   */
  move(
    realmId: RealmId,
    ids: readonly MessageId[],
    target: {
      readonly channelId: ChannelId;
      readonly recipientId: RecipientId;
      /** Null: each keeps its own. */
      readonly topic: string | null;
      readonly isHistoryProtected: boolean;
    },
  ): Promise<void>;
  /** With every personal row and submessage. Returns the ids that were there, ascending. */
  remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
}
