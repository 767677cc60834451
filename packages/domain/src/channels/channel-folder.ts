import { DomainError } from '../kernel/errors.js';
import type { ChannelFolderId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { positionOfUnprintable, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';

/** What sorts channels for everybody (channels §2.3, §4.15). */
export interface ChannelFolder {
  readonly id: ChannelFolderId;
  readonly realmId: RealmId;
  readonly name: string;
  readonly description: string;
  /** HTML. */
  readonly renderedDescription: string;
  /** Folders are shown in ascending order; a new one has its id, and so comes last. */
  readonly order: number;
  readonly createdAt: UnixSeconds;
  readonly creatorId: UserId | null;
  readonly isArchived: boolean;
}

/** In code points (protocol §14). */
export const MAX_CHANNEL_FOLDER_NAME_LENGTH = 60;
export const MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH = 1024;
/** Of a realm, archived ones among them: everybody is shown all. */
export const MAX_CHANNEL_FOLDERS = 1000;

export interface ChannelFolderReads {
  find(realmId: RealmId, id: ChannelFolderId): Promise<ChannelFolder | null>;
  /** Whatever the letter case; archived ones too. */
  findByName(realmId: RealmId, name: string): Promise<ChannelFolder | null>;
  /** All of the realm, archived ones too; by order, then id. */
  list(realmId: RealmId): Promise<readonly ChannelFolder[]>;
}

/** Every implementation passes channel-folder-repository.contract.ts. */
export interface ChannelFolderRepository extends ChannelFolderReads {
  /** Its order is its id. @throws DomainError CHANNEL_FOLDER_NAME_TAKEN */
  add(folder: Omit<ChannelFolder, 'id' | 'order'>): Promise<ChannelFolder>;
  /** @throws DomainError CHANNEL_FOLDER_NAME_TAKEN */
  update(folder: ChannelFolder): Promise<void>;
}

/** Returns the name trimmed. @throws DomainError INVALID_CHANNEL_FOLDER_NAME (channels §4.15) */
export function parseFolderName(raw: string): string {
  const name = trim(raw);
  if (name === '') throw new DomainError('INVALID_CHANNEL_FOLDER_NAME', "Channel folder name can't be empty.");
  const position = positionOfUnprintable(name);
  if (position === 0) return name;
  const text = `Invalid character in channel folder name, at position ${position}.`;
  throw new DomainError('INVALID_CHANNEL_FOLDER_NAME', text);
}

export const folderNameTaken = (): DomainError =>
  new DomainError('CHANNEL_FOLDER_NAME_TAKEN', 'Channel folder name already in use');

/** @throws DomainError UNKNOWN_CHANNEL_FOLDER */
export async function loadFolder(
  { channelFolders }: Pick<Repositories | Transaction, 'channelFolders'>,
  realmId: RealmId,
  id: ChannelFolderId,
): Promise<ChannelFolder> {
  const folder = await channelFolders.find(realmId, id);
  if (!folder) throw new DomainError('UNKNOWN_CHANNEL_FOLDER', 'Invalid channel folder ID');
  return folder;
}

/** One that a channel can be put into: an archived one is empty, and stays so. @throws DomainError UNKNOWN_CHANNEL_FOLDER */
export async function requireFolder(tx: Transaction, realmId: RealmId, id: ChannelFolderId): Promise<void> {
  const { isArchived } = await loadFolder(tx, realmId, id);
  if (isArchived) throw new DomainError('UNKNOWN_CHANNEL_FOLDER', 'Invalid channel folder ID');
}

/**
 * The order of each of a realm's folders by a list of their ids, in which others mean nothing.
 * @throws DomainError INVALID_FOLDER_ORDER unless all of them are named
 */
export function folderOrder(
  folders: readonly Pick<ChannelFolder, 'id'>[],
  ids: readonly ChannelFolderId[],
): ReadonlyMap<ChannelFolderId, number> {
  const order = new Map(ids.map((id, index) => [id, index]));
  if (folders.some(({ id }) => !order.has(id))) {
    throw new DomainError('INVALID_FOLDER_ORDER', 'Invalid order mapping.');
  }
  return order;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    channelFolders: [reads: ChannelFolderReads, repository: ChannelFolderRepository];
  }
}
