import { type AttachedFile, MAX_FILES_OF_MESSAGE, MAX_MESSAGES_OF_FILE } from '../files/file.js';
import { publishFileChanges } from '../files/file-events.js';
import type { FileId, UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { canReadFile } from './file-access.js';
import { spellingsOf } from './linked-uploads.js';
import type { Message } from './message.js';

/**
 * Which files a text's links attach to a message of this sender: those that they may read themselves (messages §4.2), in the
 * order of their ids.
 */
export async function attachableFiles(
  tx: Transaction,
  { realmId, id }: Pick<User, 'realmId' | 'id'>,
  paths: ReadonlySet<string>,
): Promise<readonly FileId[]> {
  // Most messages.
  if (paths.size === 0) return [];
  const actor = (await tx.actors.list(realmId, [id])).get(id);
  if (!actor) return [];
  const linked = await tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));
  const files = await tx.files.listAttached(
    realmId,
    linked.slice(0, MAX_FILES_OF_MESSAGE).map((file) => file.id),
  );
  const attachable: FileId[] = [];
  for (const file of files) {
    if (file.messageIds.length < MAX_MESSAGES_OF_FILE && (await canReadFile(tx, actor, file))) attachable.push(file.id);
  }
  return attachable;
}

/** Lets a new message refer to files, and tells their owners. */
export async function attachFiles(
  tx: Transaction,
  { realmId, id }: Pick<Message, 'realmId' | 'id'>,
  ids: readonly FileId[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.files.attach(realmId, id, ids);
  await publishFileChanges(tx, realmId, ids);
}

/** What a new text attaches to a message that has files already. */
export interface FilesOfEdit {
  /** All of them from now on. */
  readonly present: readonly FileId[];
  readonly added: readonly FileId[];
  readonly removed: readonly FileId[];
}

export async function filesOfEdit(
  tx: Transaction,
  { realmId, id, senderId }: Pick<Message, 'realmId' | 'id' | 'senderId'>,
  paths: ReadonlySet<string>,
): Promise<FilesOfEdit> {
  const before = await tx.files.listIdsOfMessage(realmId, id);
  const present = await attachableFiles(tx, { realmId, id: senderId }, paths);
  // What was attached stays as long as it is linked: the message gives its readers access, however many refer to it.
  const linked = new Set(before.length === 0 ? [] : (await linkedFiles(tx, realmId, paths)).map((file) => file.id));
  const kept = before.filter((file) => linked.has(file));
  return {
    present: [...new Set([...kept, ...present])],
    added: present.filter((file) => !before.includes(file)),
    removed: before.filter((file) => !linked.has(file)),
  };
}

const linkedFiles = (tx: Transaction, realmId: Message['realmId'], paths: ReadonlySet<string>) =>
  tx.files.listByPath(realmId, [...paths].flatMap(spellingsOf));

/** Stores what an edit attaches and detaches, and tells the owners. Answers what nothing refers to any more of the sender's own. */
export async function changeAttachedFiles(
  tx: Transaction,
  { realmId, id, senderId }: Pick<Message, 'realmId' | 'id' | 'senderId'>,
  { added, removed }: FilesOfEdit,
  at: UnixSeconds,
): Promise<readonly AttachedFile[]> {
  if (added.length + removed.length === 0) return [];
  if (added.length > 0) await tx.files.attach(realmId, id, added);
  if (removed.length > 0) await tx.files.detach(realmId, id, removed, at);
  await publishFileChanges(tx, realmId, [...removed, ...added]);
  const detached = await tx.files.listAttached(realmId, removed);
  return detached.filter((file) => file.ownerId === senderId && file.messageIds.length === 0);
}
