import type { AttachedFile } from '../files/files.js';
import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { RealmSettings } from '../realms/realm-settings.js';
import { type EditedText, type Message, parseContent } from './message.js';
import { awaitThumbnails, changeAttachedFiles, filesOfEdit } from './message-files.js';
import { namedIn, type Post, shownOf } from './post-message.js';

/** One change of a message's text or place (messages §2.5). */
export interface MessageEdit {
  readonly userId: UserId;
  readonly editedAt: UnixSeconds;
  /** Null: its text stayed as it was. */
  readonly previousContent: { readonly content: string; readonly rendered: string } | null;
  /** As this message spelt its topic, and as it does from then on; null: it stayed in its topic. */
  readonly topic: { readonly from: string; readonly to: string } | null;
  /** Null: it stayed in its channel. */
  readonly channel: { readonly from: ChannelId; readonly to: ChannelId } | null;
}

/** A change that several messages share: each comes from wherever it is. */
export interface SharedEdit extends Pick<MessageEdit, 'userId' | 'editedAt'> {
  /** Null: each keeps its own. */
  readonly topic: string | null;
  /** Null: they stay in their channel. */
  readonly channelId: ChannelId | null;
}

/** What the organization shows of edits: all, only where messages were moved, or nothing. */
export type EditHistoryVisibility = RealmSettings['messageEditHistoryVisibilityPolicy'];

/** Without the texts, an edit that moved nothing is nothing (messages §2.5). Order stays. */
export function visibleEdits(edits: readonly MessageEdit[], visibility: EditHistoryVisibility): readonly MessageEdit[] {
  if (visibility === 'all') return edits;
  if (visibility === 'none') return [];
  return edits
    .filter(({ topic, channel }) => topic !== null || channel !== null)
    .map((edit) => (edit.previousContent === null ? edit : { ...edit, previousContent: null }));
}

/** Of one message: it is shown with all of them. The oldest ones make room for new ones. */
export const MAX_EDITS = 100;
/** In code points, over all earlier texts of a message, HTML included. */
export const MAX_EDITED_TEXT = 500_000;

export interface MessageEditReads {
  /** Newest first. */
  list(realmId: RealmId, messageId: MessageId): Promise<readonly MessageEdit[]>;
}

/** Every implementation passes message-edit-repository.contract.ts. */
export interface MessageEditRepository extends MessageEditReads {
  /**
   * Notes a change before it is made, of one message with its earlier text, or of many that are moved together. Of each message the
   * newest MAX_EDITS are kept, and of earlier texts no more than MAX_EDITED_TEXT beyond the newest one.
   */
  add(
    realmId: RealmId,
    edit: SharedEdit,
    ids: readonly MessageId[],
    /** The one among them whose text is changed. */
    edited?: MessageId | null,
  ): Promise<void>;
}

declare module './message.js' {
  interface MessageParts {
    /** Newest first. */
    readonly edits?: readonly MessageEdit[];
  }
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    edits: [reads: MessageEditReads, repository: MessageEditRepository];
  }
}

/** What is left of a message whose text is taken away. */
const DELETED = '(deleted)';
const NOBODY: ReadonlySet<UserId> = new Set();

/** What is kept of a text that takes the place of another one (messages §9). @throws DomainError INVALID_MESSAGE_CONTENT */
export const parseEditedContent = (raw: string): string => (trim(raw) === '' ? DELETED : parseContent(raw));

/**
 * Puts a text in the place of a message's, and names those it names, among whoever has the message (messages §9.3). Answers which
 * of its sender's files nothing refers to any more. Asks for no permission.
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
  }: Pick<Post, 'destination' | 'sender' | 'content' | 'rendered'> & Pick<EditedText, 'editedAt'>,
): Promise<readonly AttachedFile[]> {
  const { realmId, id } = message;
  const named = await namedIn(tx, { rendered, destination, sender });
  const files = await filesOfEdit(tx, message, rendered.uploadPaths);
  // Most texts name nobody.
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
