import type { AttachedFile } from '../files/files.js';
import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { RealmSettings } from '../realms/realm-settings.js';
import { type EditedText, type Message, parseContent } from './message.js';
import { awaitThumbnails, changeAttachedFiles, filesOfEdit } from './message-files.js';
import { flagsOfMentioned, type Post, shownOf } from './post-message.js';

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

/** Replacement for deleted content. */
const DELETED = '(deleted)';
const NOBODY: ReadonlySet<UserId> = new Set();

/** Normalizes edited content (messages §9). @throws DomainError INVALID_MESSAGE_CONTENT */
export const parseEditedContent = (raw: string): string => (trim(raw) === '' ? DELETED : parseContent(raw));

/**
 * Replaces a message's content and the mentions of users who have the message (messages §9.3). Returns the sender's
 * files without remaining references. Does not check permissions.
 */
export async function editText(
  tx: Transaction,
  message: Message,
  {
    content,
    rendered,
    editedAt,
    destination,
    sender,
    scope,
  }: Pick<Post, 'destination' | 'sender' | 'content' | 'rendered' | 'scope'> & Pick<EditedText, 'editedAt'>,
): Promise<readonly AttachedFile[]> {
  const { realmId, id } = message;
  const named = await flagsOfMentioned(tx, { rendered, destination, sender });
  const files = await filesOfEdit(tx, message, rendered.uploadPaths, scope);
  // Most texts contain no mentions.
  const holders =
    named.size === 0
      ? NOBODY
      : new Set<UserId>((await tx.personal.filterHolders(realmId, [id], [...named.keys()])).get(id));
  await tx.messages.edit(realmId, id, {
    content,
    ...shownOf(rendered, files.present),
    editedAt,
    exceptions: new Map([...named].filter(([userId]) => holders.has(userId))),
  });
  await awaitThumbnails(tx, message, rendered.pendingThumbnails);
  return changeAttachedFiles(tx, message, files, editedAt);
}
