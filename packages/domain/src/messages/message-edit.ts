import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { RealmSettings } from '../realms/realm-settings.js';

/** Single change of a message's text or location (messages §2.5). */
export interface MessageEdit {
  readonly userId: UserId;
  readonly editedAt: UnixSeconds;
  /** Null if the text did not change. */
  readonly previousContent: { readonly content: string; readonly rendered: string } | null;
  /** Old and new topic as spelled by this message; null if the topic did not change. */
  readonly topic: { readonly from: string; readonly to: string } | null;
  /** Null if the channel did not change. */
  readonly channel: { readonly from: ChannelId; readonly to: ChannelId } | null;
}

/** Change of several messages, each with its own previous location. */
export interface SharedEdit extends Pick<MessageEdit, 'userId' | 'editedAt'> {
  /** Null if each message keeps its topic. */
  readonly topic: string | null;
  /** Null if the messages stay in their channels. */
  readonly channelId: ChannelId | null;
}

/** Edit history visible in the realm: everything, moves only, or nothing. */
export type EditHistoryVisibility = RealmSettings['messageEditHistoryVisibilityPolicy'];

/** Returns the visible edits in the same order. Omits edits without a move if texts are hidden (messages §2.5). */
export function visibleEdits(edits: readonly MessageEdit[], visibility: EditHistoryVisibility): readonly MessageEdit[] {
  if (visibility === 'all') return edits;
  if (visibility === 'none') return [];
  return edits
    .filter(({ topic, channel }) => topic !== null || channel !== null)
    .map((edit) => (edit.previousContent === null ? edit : { ...edit, previousContent: null }));
}

/** Maximum number of edits per message, since all are shown together. New edits evict the oldest. */
export const MAX_EDITS = 100;
/** Maximum number of edits of a held message, of which none is evicted. Further ones are refused. */
export const MAX_HELD_EDITS = 1000;
/** Maximum total length of a message's earlier texts in code points, including HTML. */
export const MAX_EDITED_TEXT = 500_000;

export interface MessageEditReads {
  /** Newest first. */
  list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]>;
  /** Number of kept edits, at most MAX_HELD_EDITS. */
  count(realmId: RealmId, messageId: MessageId): Promise<number>;
}

/** Every implementation passes message-edit-repository.contract.ts. */
export interface MessageEditRepository extends MessageEditReads {
  /**
   * Records a change before it is applied: of one message with its previous text, or of many moved messages. Keeps the
   * newest MAX_EDITS edits per message. Earlier texts other than the newest are limited to MAX_EDITED_TEXT.
   */
  add(
    realmId: RealmId,
    edit: SharedEdit,
    ids: readonly MessageId[],
    /** Message with a text change; null if there is none. */
    edited?: MessageId | null,
  ): Promise<void>;
}

declare module './message.js' {
  interface MessageParts {
    /** Newest first. */
    readonly edits?: readonly MessageEdit[];
  }
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    edits: [reads: MessageEditReads, repository: MessageEditRepository];
  }
}
