import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { PersonalFlags } from './message.js';
import type { MessageCondition } from './message-condition.js';
import type { MessageText, MessageView } from './message-view.js';

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
