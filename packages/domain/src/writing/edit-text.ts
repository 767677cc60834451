import type { AttachedFile } from '../files/files.js';
import type { UserId } from '../kernel/ids.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { type EditedText, type Message, parseContent } from '../messages/message.js';
import { awaitThumbnails, changeAttachedFiles, filesOfEdit } from '../messages/message-files.js';
import { flagsOfMentioned, type Post, shownOf } from './post-message.js';

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
