import type { AttachedFile } from '../files/file.js';
import type { UserId } from '../kernel/ids.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { changeAttachedFiles, filesOfEdit } from './attach-files.js';
import { awaitThumbnails } from './linked-uploads.js';
import { type EditedText, type Message, parseContent } from './message.js';
import { namedIn, type Post, shownOf } from './post-message.js';

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
