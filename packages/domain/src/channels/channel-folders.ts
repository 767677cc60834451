import { DomainError } from '../kernel/errors.js';
import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import { rewrittenDescription } from '../kernel/export-parts.js';
import type { Caller, ChannelFolderId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { positionOfUnprintable, trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { TextRenderer } from '../markdown/markdown.js';
import { htmlShape } from '../markdown/safe-html.js';
import { canManageFolders } from './channel-permissions.js';

/** Groups channels for the whole realm (channels §2.3, §4.15). */
export interface ChannelFolder {
  readonly id: ChannelFolderId;
  readonly realmId: RealmId;
  readonly name: string;
  readonly description: string;
  /** HTML. */
  readonly renderedDescription: string;
  /** Folders are shown in ascending order. A new folder gets its id as order, so it comes last. */
  readonly order: number;
  readonly createdAt: UnixSeconds;
  readonly creatorId: UserId | null;
  readonly isArchived: boolean;
}

/** In code points (protocol §14). */
export const MAX_CHANNEL_FOLDER_NAME_LENGTH = 60;
export const MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH = 1024;
/** Limit per realm, including archived folders, because every client receives all of them. */
export const MAX_CHANNEL_FOLDERS = 1000;

/** Trims and validates the name. @throws DomainError INVALID_CHANNEL_FOLDER_NAME (channels §4.15) */
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

/** Includes archived folders. */
export const CHANNEL_FOLDER_ROWS: RowRules<ChannelFolder> = {
  kind: 'channelFolder',
  owner: 'realm',
  order: ['order', 'id'],
  unique: { property: 'name', ignoresCase: true, taken: folderNameTaken },
  place: 'order',
  exported: {
    noun: 'channel folder',
    shape: {
      name: shape.printable,
      description: shape.text(10_000),
      renderedDescription: htmlShape,
      order: shape.integer,
      createdAt: shape.time,
      creatorId: shape.orNull(shape.anyId),
      isArchived: shape.flag,
    },
    max: 100_000,
    imported: ({ creatorId }, { users }) => ({ creatorId: users.orNull(creatorId) }),
    rewritten: rewrittenDescription,
  },
};

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

/**
 * Requires a folder that can take channels; an archived folder must stay empty. @throws DomainError
 * UNKNOWN_CHANNEL_FOLDER
 */
export async function requireFolder(
  tx: Pick<Repositories | Transaction, 'channelFolders'>,
  realmId: RealmId,
  id: ChannelFolderId,
): Promise<void> {
  const { isArchived } = await loadFolder(tx, realmId, id);
  if (isArchived) throw new DomainError('UNKNOWN_CHANNEL_FOLDER', 'Invalid channel folder ID');
}

/**
 * Computes the order of a realm's folders from a list of ids; ignores unknown ids.
 * @throws DomainError INVALID_FOLDER_ORDER unless all folders are listed
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

/** Changed property, with its HTML if it is Markdown. */
export type ChannelFolderChange =
  | Pick<ChannelFolder, 'name'>
  | Pick<ChannelFolder, 'description' | 'renderedDescription'>
  | Pick<ChannelFolder, 'isArchived'>;

/** Sent to the whole realm (channels §6.5). */
export interface ChannelFolderEventTypes {
  'channel_folder.created': { readonly folder: ChannelFolder };
  'channel_folder.changed': { readonly folderId: ChannelFolderId; readonly change: ChannelFolderChange };
  /** `folderIds`: ids as received from the client. */
  'channel_folder.reordered': { readonly folderIds: readonly ChannelFolderId[] };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    channelFolders: [reads: RealmRowReads<ChannelFolder>, repository: RealmRows<ChannelFolder, 'order'>];
  }
  interface DomainEventTypes extends ChannelFolderEventTypes {}
  interface RealmCopyParts {
    readonly channelFolders: readonly ChannelFolder[];
  }
  interface IdKindParts {
    channelFolder: ChannelFolderId;
  }
}

export const CHANNEL_FOLDER_FEATURE = {
  eventFormats: {
    'channel_folder.created': 1,
    'channel_folder.changed': 1,
    'channel_folder.reordered': 1,
  },
  rows: { channelFolders: CHANNEL_FOLDER_ROWS },
} satisfies FeatureParts<ChannelFolderEventTypes>;

/** Lists channel folders by order (channels §4.15). */
export class ListChannelFolders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(
    caller: Caller,
    { includeArchived }: { readonly includeArchived: boolean },
  ): Promise<readonly ChannelFolder[]> {
    return this.uow.read(caller.realmId, async ({ channelFolders }) =>
      (await channelFolders.list(caller.realmId)).filter(({ isArchived }) => includeArchived || !isArchived),
    );
  }
}

export interface CreateChannelFolderInput {
  readonly name: string;
  readonly description: string;
}

/** Creates a channel folder (channels §4.15). */
export class CreateChannelFolder {
  static readonly inject = ['unitOfWork', 'textRenderer', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly descriptions: TextRenderer,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_CHANNEL_FOLDER_NAME, CHANNEL_FOLDER_NAME_TAKEN,
   * TOO_MANY_CHANNEL_FOLDERS, UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, { name: typed, description }: CreateChannelFolderInput): Promise<ChannelFolderId> {
    const parsed = await this.descriptions.parse(caller.realmId, description);
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId } = actor;
      enforce(canManageFolders(actor));
      const name = parseFolderName(typed);
      if (await tx.channelFolders.findByKey(realmId, name)) throw folderNameTaken();
      if ((await tx.channelFolders.list(realmId)).length >= MAX_CHANNEL_FOLDERS) {
        throw new DomainError('TOO_MANY_CHANNEL_FOLDERS', `Too many channel folders (limit: ${MAX_CHANNEL_FOLDERS}).`);
      }
      const folder = await tx.channelFolders.add({
        realmId,
        name,
        description,
        renderedDescription: await this.descriptions.render(tx, actor.realmId, actor, parsed),
        createdAt: this.clock.now(),
        creatorId: actor.id,
        isArchived: false,
      });
      await tx.events.append(realmId, { event: { type: 'channel_folder.created', folder }, audience: wholeRealm });
      return folder.id;
    });
  }
}

/** Absent properties stay unchanged. */
export interface ChangeChannelFolderInput {
  readonly folderId: ChannelFolderId;
  readonly name?: string;
  readonly description?: string;
  readonly isArchived?: boolean;
}

/**
 * Changes the name, description or archived state of a folder (channels §4.15). Unchanged properties publish no
 * event.
 */
export class ChangeChannelFolder {
  static readonly inject = ['unitOfWork', 'textRenderer'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly descriptions: TextRenderer,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_CHANNEL_FOLDER, INVALID_CHANNEL_FOLDER_NAME,
   * CHANNEL_FOLDER_NAME_TAKEN, UNRENDERABLE_CONTENT, CHANNEL_FOLDER_IN_USE
   */
  async execute(caller: Caller, { folderId, name, description, isArchived }: ChangeChannelFolderInput): Promise<void> {
    const parsed = description === undefined ? null : await this.descriptions.parse(caller.realmId, description);
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canManageFolders(actor));
      const folder = await loadFolder(tx, actor.realmId, folderId);
      const changes: ChannelFolderChange[] = [];
      if (name !== undefined && name !== folder.name) changes.push({ name: await newName(tx, folder, name) });
      if (parsed !== null && parsed.text !== folder.description) {
        const renderedDescription = await this.descriptions.render(tx, actor.realmId, actor, parsed);
        changes.push({ description: parsed.text, renderedDescription });
      }
      if (isArchived !== undefined && isArchived !== folder.isArchived) {
        if (isArchived && (await tx.channels.hasChannelsInFolder(actor.realmId, folderId))) {
          const text = 'You need to remove all the channels from this folder to archive it.';
          throw new DomainError('CHANNEL_FOLDER_IN_USE', text);
        }
        changes.push({ isArchived });
      }
      if (changes.length === 0) return;
      await tx.channelFolders.update(Object.assign({}, folder, ...changes));
      for (const change of changes) {
        await tx.events.append(actor.realmId, {
          event: { type: 'channel_folder.changed', folderId, change },
          audience: wholeRealm,
        });
      }
    });
  }
}

/** Deliberate: another spelling of the folder's own name counts as taken. */
async function newName(tx: Transaction, folder: ChannelFolder, typed: string): Promise<string> {
  const name = parseFolderName(typed);
  if (await tx.channelFolders.findByKey(folder.realmId, name)) throw folderNameTaken();
  return name;
}

/** Sets the order in which folders are shown (channels §4.15). */
export class ReorderChannelFolders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR, INVALID_FOLDER_ORDER */
  execute(caller: Caller, { folderIds }: { readonly folderIds: readonly ChannelFolderId[] }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canManageFolders(actor));
      const folders = await tx.channelFolders.list(actor.realmId);
      const order = folderOrder(folders, folderIds);
      for (const folder of folders) {
        const position = getOrThrow(order, folder.id);
        if (position !== folder.order) await tx.channelFolders.update({ ...folder, order: position });
      }
      await tx.events.append(actor.realmId, {
        event: { type: 'channel_folder.reordered', folderIds },
        audience: wholeRealm,
      });
    });
  }
}
