import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import {
  type ChannelId,
  type CustomEmojiId,
  type FileId,
  firstOf,
  lastOf,
  type MessageId,
  type PersonCopy,
  type RealmCopy,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import { REALM_IMAGE_NAMES, type RealmImageName, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import type { FileCopy, ImportSource, MessageCopy, PictureCopy } from '@parley/transfer/exports';
import { findFile, pathIn, readDocument, readLines, readText, type UnpackLimits, unpack } from './archive-files.js';
import { readZulipTables } from './from-zulip/zulip-copy.js';
import {
  ATTACHMENT_FILE,
  FORMAT,
  MESSAGE_FILE,
  messageFile,
  PARLEY_FILE,
  PARTIAL_MESSAGE_FILE,
  PEOPLE_FILE,
  PICTURE_RECORDS,
  type PictureFolder,
  REALM_FILE,
  REALM_IMAGE_WORDS,
} from './layout.js';
import type { ColumnNames } from './message-rows.js';
import {
  id,
  integer,
  list,
  object,
  orElse,
  orNull,
  parseJson,
  personCopy,
  realmCopy,
  record,
  type Shape,
  text,
  time,
  wrong,
} from './parley-shapes.js';
import { type MessageContext, type MessageHead, readMessageFile, readMessageHeads } from './read-messages.js';

/** Size above which rows are flushed to disk. */
const MAX_HELD = 65_536;

interface TableFile {
  readonly path: string;
  readonly stream: WriteStream;
  held: string[];
  heldLength: number;
  isEmpty: boolean;
}

/** Stores each potentially long table as a file of JSON rows until all are complete. */
export class TableFiles {
  private readonly files = new Map<string, TableFile>();

  constructor(private readonly folder: string) {}

  async add(table: string, row: object): Promise<void> {
    await this.write(this.file(table), JSON.stringify(row), ',\n');
  }

  /** Creates tables, which may stay empty. */
  begin(...tables: readonly string[]): void {
    for (const table of tables) this.file(table);
  }

  /** Adds a line to a file that is not a table. */
  async addLine(name: string, row: object): Promise<void> {
    await this.write(this.file(name), JSON.stringify(row), '\n');
  }

  async end(): Promise<void> {
    for (const file of this.files.values()) {
      file.stream.write(file.held.join(''));
      await new Promise<void>((resolve, reject) => {
        file.stream.on('error', reject).end(resolve);
      });
    }
  }

  /** Returns the size of a finished file in bytes. */
  async sizeOf(name: string): Promise<number> {
    return (await stat(this.file(name).path)).size;
  }

  read(name: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.file(name).path);
  }

  private async write(file: TableFile, text: string, separator: string): Promise<void> {
    if (!file.isEmpty) file.held.push(separator);
    file.isEmpty = false;
    file.held.push(text);
    file.heldLength += text.length;
    if (file.heldLength < MAX_HELD) return;
    const chunk = file.held.join('');
    file.held = [];
    file.heldLength = 0;
    if (!file.stream.write(chunk)) {
      await new Promise<void>((resolve, reject) => {
        file.stream.once('error', reject).once('drain', () => {
          file.stream.off('error', reject);
          resolve();
        });
      });
    }
  }

  private file(name: string): TableFile {
    const existing = this.files.get(name);
    if (existing) return existing;
    const path = join(this.folder, `${this.files.size}.rows`);
    const file = { path, stream: createWriteStream(path, { mode: 0o600 }), held: [], heldLength: 0, isEmpty: true };
    this.files.set(name, file);
    return file;
  }
}

const RECORD = object({ path: text(1000), user_profile_id: orNull((value) => value) });
type PictureRecord = ReturnType<typeof RECORD>;

/** Suffix of uploaded originals, which are better sources than images resized by the other server. */
const ORIGINAL = '.original';

/** Returns the path of the best file for each key. */
async function readRecords<Key>(
  root: string,
  folder: PictureFolder,
  keyOf: (record: PictureRecord, fileName: string) => Key,
): Promise<ReadonlyMap<Key, string>> {
  const name = PICTURE_RECORDS[folder];
  const paths = new Map<Key, string>();
  // Some exports of other servers lack the folder.
  if (!(await findFile(root, join(root, name)))) return paths;
  const records: Shape<PictureRecord[]> = list(RECORD, 1_000_000);
  for (const record of records(await readDocument(root, name), name)) {
    const isOriginal = record.path.endsWith(ORIGINAL);
    const fileName = record.path.slice(record.path.lastIndexOf('/') + 1, isOriginal ? -ORIGINAL.length : undefined);
    const key = keyOf(record, fileName);
    if (isOriginal || !paths.has(key)) paths.set(key, pathIn(root, folder, record.path));
  }
  return paths;
}

/** Opens a file only when it is read, so that files can be listed without open descriptors. */
async function* contentOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

async function openPicture<Of>(root: string, of: Of, path: string | undefined): Promise<PictureCopy<Of>> {
  const found = path === undefined ? null : await findFile(root, path);
  if (!found) return { of, size: 0, content: null };
  return { of, size: found.size, content: contentOf(path!) };
}

const emojiPaths = (root: string) => readRecords(root, 'emoji', (_, fileName) => fileName);

const avatarPaths = (root: string) => readRecords<unknown>(root, 'avatars', ({ user_profile_id }) => user_profile_id);

/** Locations of pictures below the root of an export. */
export interface PicturePaths {
  readonly avatars: ReadonlyMap<UserId, string>;
  readonly emoji: ReadonlyMap<CustomEmojiId, string>;
}

async function picturePaths(root: string, { users, customEmoji }: RealmCopy): Promise<PicturePaths> {
  const [avatars, emoji] = [await avatarPaths(root), await emojiPaths(root)];
  const below = <Id>(id: Id, path: string | undefined): [Id, string][] =>
    path === undefined ? [] : [[id, relative(root, path)]];
  return {
    avatars: new Map(
      users.flatMap(({ user }) => (user.avatar.source === 'uploaded' ? below(user.id, avatars.get(user.id)) : [])),
    ),
    emoji: new Map(customEmoji.flatMap((each) => below(each.id, emoji.get(each.fileName)))),
  };
}

/** Reads emoji images by file name. */
export async function* readEmojiPictures(
  root: string,
  emoji: RealmCopy['customEmoji'],
): AsyncGenerator<PictureCopy<CustomEmojiId>> {
  const paths = await emojiPaths(root);
  for (const { id, fileName } of emoji) yield await openPicture(root, id, paths.get(fileName));
}

/** Reads all uploaded avatars. */
export async function* readAvatars(root: string, users: RealmCopy['users']): AsyncGenerator<PictureCopy<UserId>> {
  const paths = await avatarPaths(root);
  for (const { user } of users) {
    if (user.avatar.source === 'uploaded') yield await openPicture(root, user.id, paths.get(user.id));
  }
}

/** Reads the uploaded icon and logos. */
export async function* readRealmImages(
  root: string,
  { images }: RealmCopy['realm'],
): AsyncGenerator<PictureCopy<RealmImageName>> {
  const paths = await readRecords(root, 'realm_icons', (_, fileName) => fileName.replace(/\.png$/, ''));
  for (const name of REALM_IMAGE_NAMES) {
    if (images[name].isUploaded) yield await openPicture(root, name, paths.get(REALM_IMAGE_WORDS[name]));
  }
}

export interface OpenOptions {
  readonly names: ColumnNames;
  readonly temporaryFolder: string;
  readonly limits?: UnpackLimits;
}

export interface OpenExport {
  readonly source: ImportSource;
  /** True for an export of Parley, false for one of a Zulip server. */
  readonly isOwn: boolean;
  /** Folder of the unpacked files. */
  readonly root: string;
  pictures(): Promise<PicturePaths>;
  /** Messages of `source`, and those whose sender or conversation is missing in the export. */
  allMessages(): AsyncIterable<readonly MessageCopy[]>;
  /** Numbers of rows in tables of a Zulip server that are not part of `source`. */
  readonly unreadTables: ReadonlyMap<string, number>;
  /** Removes unpacked files. */
  close(): Promise<void>;
}

/** Returns true for a folder with an unpacked export, and for a file with the name of an archive. */
export async function isExport(path: string): Promise<boolean> {
  if ((await stat(path)).isDirectory()) {
    return findRoot(path).then(
      () => true,
      () => false,
    );
  }
  return /\.(?:tar|tgz|tar\.gz)$/.test(path);
}

/** Opens a folder or an archive (`.tar.gz`, `.tar`). @throws DomainError INVALID_IMPORT */
export async function openExport(path: string, options: OpenOptions): Promise<OpenExport> {
  const isFolder = (await stat(path)).isDirectory();
  await removeAbandoned(options.temporaryFolder);
  const unpacked = isFolder ? null : await mkdtemp(join(options.temporaryFolder, IMPORT_FOLDER));
  const close = async () => {
    if (unpacked !== null) await rm(unpacked, { recursive: true, force: true });
  };
  try {
    if (unpacked !== null) await unpack(path, unpacked, options.limits);
    const root = await findRoot(unpacked ?? path);
    const names = new Set(await readdir(root));
    const isOwn = names.has(PARLEY_FILE);
    const contents = isOwn ? await openOwn(root) : await openZulip(root, options.names);
    return { ...contents, isOwn, root, pictures: () => picturePaths(root, contents.source.realm), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Prefix of the temporary folders of imports. */
export const IMPORT_FOLDER = 'parley-import-';
/** Maximum duration of an import. */
const ABANDONED_MS = 86_400_000;

/** Removes folders of killed imports, which would expose private data on the disk. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(IMPORT_FOLDER)) continue;
    const path = join(folder, entry.name);
    const found = await stat(path).catch(() => null);
    if (!found || Date.now() - found.mtimeMs <= ABANDONED_MS) continue;
    // A shared folder for temporary files may contain those of other users.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Returns the folder itself, or its only subfolder. */
async function findRoot(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some(({ name }) => name === REALM_FILE)) return folder;
  const folders = entries.filter((entry) => entry.isDirectory());
  if (folders.length === 1) {
    const inner = join(folder, firstOf(folders).name);
    if ((await readdir(inner)).includes(REALM_FILE)) return inner;
  }
  throw wrong('It', `has no ${REALM_FILE}, so it is not an export`);
}

type Contents = Pick<OpenExport, 'source' | 'allMessages' | 'unreadTables'>;

async function openOwn(root: string): Promise<Contents> {
  const document = record(await readDocument(root, PARLEY_FILE), PARLEY_FILE);
  const format = integer(document.format, `${PARLEY_FILE}: format`);
  if (format > FORMAT) throw wrong('The export', `was written by a newer version of Parley (format ${format})`);
  const realm = realmCopy(document.realm, `${PARLEY_FILE}: realm`);
  const context = contextOf(realm, new Map(), {
    isOwn: true,
    personOf: () => null,
    reactionsOf: () => [],
    submessagesOf: () => [],
  });
  const source: ImportSource = {
    realm,
    dropped: unknownSettings(document.realm),
    people: () => readPeople(root),
    messages: () => readMessages(root, context),
    messageRange: () => readMessageRange(root),
    messageIds: () => readMessageIds(root, () => true),
    files: () => readFiles(root),
    avatars: () => readAvatars(root, realm.users),
    realmImages: () => readRealmImages(root, realm.realm),
    emojiPictures: () => readEmojiPictures(root, realm.customEmoji),
  };
  return { source, allMessages: source.messages, unreadTables: new Map() };
}

/** Returns the names of settings that a valid `parley.json` has of another release. */
function unknownSettings(realm: unknown): readonly string[] {
  const { settings } = (realm as { readonly realm: { readonly settings: object } }).realm;
  return Object.keys(settings).filter((name) => !Object.hasOwn(STORED_REALM_SETTINGS, name));
}

async function openZulip(root: string, names: ColumnNames): Promise<Contents> {
  const partial = (await readdir(root)).find((name) => PARTIAL_MESSAGE_FILE.test(name));
  if (partial !== undefined) throw wrong('The export', `is incomplete: it holds ${partial}`);
  const tables = record(await readDocument(root, REALM_FILE), REALM_FILE);
  const { realm, people, skipsMessage, unreadTables, dropped, ...about } = readZulipTables(tables, names);
  const context = contextOf(realm, clientNames(tables), { isOwn: false, ...about });
  const allMessages = () => readMessages(root, context);
  const source: ImportSource = {
    realm,
    dropped,
    people: async function* () {
      yield* people;
    },
    messages: async function* () {
      for await (const page of allMessages()) yield page.filter(({ message }) => !skipsMessage(message));
    },
    messageRange: () => readMessageRange(root),
    messageIds: () => readMessageIds(root, (head) => !skipsMessage(head)),
    files: () => readFiles(root),
    avatars: () => readAvatars(root, realm.users),
    realmImages: () => readRealmImages(root, realm.realm),
    emojiPictures: () => readEmojiPictures(root, realm.customEmoji),
  };
  return { source, allMessages, unreadTables };
}

function contextOf(
  realm: RealmCopy,
  clients: ReadonlyMap<number, string>,
  more: Pick<MessageContext, 'isOwn' | 'personOf' | 'reactionsOf' | 'submessagesOf'>,
): MessageContext {
  const channels = new Map<RecipientId, ChannelId>(
    realm.channels.map(({ id: own, recipientId }) => [recipientId, own]),
  );
  return {
    ...more,
    channelOf: (recipient) => channels.get(recipient) ?? null,
    clients,
  };
}

const CLIENT = object({ id: integer, name: text(1000) });

function clientNames(tables: Readonly<Record<string, unknown>>): ReadonlyMap<number, string> {
  const rows = list(CLIENT, 100_000)(tables.zerver_client ?? [], `${REALM_FILE}: zerver_client`);
  return new Map(rows.map(({ id: own, name }) => [own, name]));
}

async function* readPeople(root: string): AsyncGenerator<PersonCopy> {
  let number = 0;
  for await (const line of readLines(root, PEOPLE_FILE)) {
    number++;
    if (line !== '')
      yield personCopy(parseJson(line, `${PEOPLE_FILE}: line ${number}`), `${PEOPLE_FILE}: line ${number}`);
  }
}

/** @throws DomainError INVALID_IMPORT if a file before the last one is missing: its messages would count as deleted */
async function messageFiles(root: string): Promise<readonly string[]> {
  const files = (await readdir(root)).filter((name) => MESSAGE_FILE.test(name)).sort();
  const missing = files.findIndex((name, index) => name !== messageFile(index + 1));
  if (missing >= 0) throw wrong('The export', `is incomplete: ${messageFile(missing + 1)} is missing`);
  return files;
}

async function* readMessages(root: string, context: MessageContext): AsyncGenerator<readonly MessageCopy[]> {
  let last = 0;
  for (const name of await messageFiles(root)) {
    const page = readMessageFile(await readText(root, name), name, context);
    if (page.length === 0) continue;
    if (firstOf(page).message.id <= last)
      throw wrong(name, `has message ${firstOf(page).message.id} after message ${last}`);
    last = lastOf(page).message.id;
    yield page;
  }
}

/** Reads the first and the last file with messages; those between are read later. */
async function readMessageRange(root: string): ReturnType<ImportSource['messageRange']> {
  const files = await messageFiles(root);
  const first = (await readFirstHeads(root, files)).at(0);
  const last = (await readFirstHeads(root, [...files].reverse())).at(-1);
  return first && last ? { first: first.id, last: last.id } : null;
}

async function readFirstHeads(root: string, files: readonly string[]): Promise<readonly MessageHead[]> {
  for (const name of files) {
    const heads = readMessageHeads(await readText(root, name), name);
    if (heads.length > 0) return heads;
  }
  return [];
}

async function* readMessageIds(
  root: string,
  isWanted: (head: MessageHead) => boolean,
): AsyncGenerator<readonly MessageId[]> {
  for (const name of await messageFiles(root)) {
    yield readMessageHeads(await readText(root, name), name)
      .filter(isWanted)
      .map((head) => head.id);
  }
}

const contentType: Shape<string> = (value, path) => {
  const type = text(1000)(value, path);
  // Other characters cannot be sent in a header.
  if (!/^[ -~]*$/.test(type)) throw wrong(path, 'is not a content type');
  return type;
};

const ATTACHMENT = object({
  id: id<FileId>(),
  owner: id<UserId>(),
  file_name: text(1000),
  path_id: text(1000),
  create_time: time,
  size: integer,
  content_type: orElse(contentType, 'application/octet-stream'),
  messages: orElse(list(id<MessageId>()), []),
});

async function* readFiles(root: string): AsyncGenerator<FileCopy> {
  const names = new Set(await readdir(root));
  if (!names.has(ATTACHMENT_FILE)) return;
  const document = record(await readDocument(root, ATTACHMENT_FILE), ATTACHMENT_FILE);
  const rows = list(ATTACHMENT)(document.zerver_attachment ?? [], `${ATTACHMENT_FILE}: zerver_attachment`);
  for (const row of rows.sort((a, b) => a.id - b.id)) {
    const path = pathIn(root, 'uploads', row.path_id);
    const found = await findFile(root, path);
    yield {
      file: {
        id: row.id,
        ownerId: row.owner,
        name: row.file_name,
        pathId: row.path_id,
        size: row.size,
        contentType: row.content_type,
        createdAt: row.create_time,
        // Recomputed on demand.
        image: null,
      },
      messageIds: row.messages,
      content: found ? contentOf(path) : null,
    };
  }
}
