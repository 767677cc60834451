import type { MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { EditedText, Message, NewMessage } from './message.js';
import type { Submessage } from './message-view.js';

export interface MessageReads {
  find(realmId: RealmId, id: MessageId): Promise<Message | null>;
  /** Unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]>;
  /** Of a message; `authorId`: who sent it. */
  summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary>;
  /** When each was sent. Unknown ids are absent; ascending id. */
  listTimes(
    realmId: RealmId,
    ids: readonly MessageId[],
  ): Promise<readonly { readonly id: MessageId; readonly sentAt: UnixSeconds }[]>;
  /** The oldest `limit` that are there now, with ids below `before`; null: any. Ascending. */
  listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before?: MessageId | null,
  ): Promise<readonly MessageId[]>;
}

/** What rules about submessages ask of those there are. */
export interface SubmessageSummary {
  readonly count: number;
  /** Of all their texts together, in code points. */
  readonly length: number;
  /** The oldest one; null: there is none. */
  readonly first: Submessage | null;
  /** Whether one of them is by the message's author. */
  readonly hasOfAuthor: boolean;
}

/** Writes messages. Every implementation passes message-repository.contract.ts. */
export interface MessageRepository extends MessageReads {
  /**
   * Gives the message its id and ordinal. Whoever has an open span of the recipient has received it by that; nothing is
   * written for each of them.
   */
  append(message: NewMessage): Promise<Message>;
  /** Replaces its text, and with it whom it names; what anybody has read stays read. Unknown ids are left out. */
  edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void>;
  /** Shows something else in the place of what was made of the same text, which is no edit. Unknown ids are left out. */
  rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void>;
  /** Shown with the message from now on. */
  addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage>;
  /** With every personal row and submessage. Returns the ids that were there, ascending. */
  remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    messages: [reads: MessageReads, repository: MessageRepository];
  }
}
