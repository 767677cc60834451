import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { getOrThrow } from '@parley/domain/kernel';
import type { PictureCopy, RealmSource } from '@parley/transfer/exports';
import { type Pack, pack } from 'tar-stream';
import { jsonPieces } from './json.js';
import {
  ATTACHMENT_FILE,
  FORMAT,
  messageFile,
  PARLEY_FILE,
  PEOPLE_FILE,
  PICTURE_RECORDS,
  type PictureFolder,
  REALM_FILE,
  REALM_IMAGE_WORDS,
} from './layout.js';
import { CHUNK, ClientNumbers, type ColumnNames, MessageFile } from './message-rows.js';
import { TableFiles } from './read-export.js';
import { PersonTables, realmTables, TABLES_OF_PEOPLE } from './zulip-tables.js';

export interface WriteOptions {
  readonly names: ColumnNames;
  /** Parent of the temporary folder. */
  readonly temporaryFolder: string;
  /** Called with the number of messages written. */
  readonly onProgress?: (messages: number) => void;
  /** Awaited after every few messages so that other work can run. */
  readonly rest?: () => Promise<void>;
}

/** Yields the export as a compressed archive of a folder in Zulip's layout. Only one part is in memory at a time. */
export async function* writeExport(source: RealmSource, options: WriteOptions): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(options.temporaryFolder, 'parley-export-'));
  const archive = pack();
  const out = new PassThrough();
  const compressed = pipeline(archive as unknown as Readable, createGzip({ level: 6 }), out);
  const written = new ExportWriter(source, options, archive, new TableFiles(folder)).write();
  // A failure on either side ends the other side and its input.
  written.catch((error: Error) => {
    archive.destroy(error);
    out.destroy(error);
  });
  // Awaited below; a failure before that must not count as unhandled.
  compressed.catch(() => undefined);
  try {
    for await (const chunk of out) yield chunk as Uint8Array;
    await written;
    await compressed;
  } finally {
    archive.destroy();
    out.destroy();
    // The error has been thrown above, or the reader has stopped.
    await written.catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Root folder within the archive. */
const ROOT = 'parley-export';

class ExportWriter {
  private readonly clients = new ClientNumbers();
  private readonly people: PersonTables;

  constructor(
    private readonly source: RealmSource,
    private readonly options: WriteOptions,
    private readonly archive: Pack,
    private readonly tables: TableFiles,
  ) {
    this.people = new PersonTables(source.realm, tables);
  }

  async write(): Promise<void> {
    const { realm } = this.source;
    const parts = await this.restingBetween(jsonPieces({ ...realm }));
    await this.addBytes(PARLEY_FILE, [Buffer.from(`{"format":${FORMAT},"realm":`), ...parts, Buffer.from('}')]);
    await this.people.addConversations();
    for await (const person of this.source.people()) {
      await this.people.addPerson(person);
      await this.tables.addLine(PEOPLE_FILE, person);
      await this.rest();
    }
    await this.writeMessages();
    await this.writeFiles();
    await this.writeEmoji();
    await this.writeAvatars();
    const { id } = this.source.realm.realm;
    await this.writePictures('realm_icons', this.source.realmImages(), (name) => ({
      path: `${id}/${REALM_IMAGE_WORDS[name]}.original`,
      content_type: 'image/png',
    }));
    this.tables.begin(PEOPLE_FILE);
    await this.tables.end();
    await this.addStream(PEOPLE_FILE, await this.tables.sizeOf(PEOPLE_FILE), this.tables.read(PEOPLE_FILE));
    await this.writeRealm();
    this.archive.finalize();
  }

  private async writeMessages(): Promise<void> {
    const file = new MessageFile(this.source.realm.realm.id, this.clients);
    let files = 0;
    let count = 0;
    const endFile = async () => {
      await this.addStream(messageFile(++files), file.length, file.chunks());
      count += file.messageCount;
      file.clear();
      this.options.onProgress?.(count);
    };
    for await (const copies of this.source.messages()) {
      let holders = 0;
      for (const copy of copies) {
        file.add(copy);
        await this.people.addReactions(copy.message.id, copy.reactions);
        await this.people.addSubmessages(copy.message.id, copy.submessages);
        if (file.isFull) await endFile();
        holders += copy.holders.length;
        if (holders < HOLDERS_BEFORE_REST) continue;
        await this.rest();
        holders = 0;
      }
      await this.rest();
    }
    if (file.messageCount > 0) await endFile();
  }

  private async writeFiles(): Promise<void> {
    const realm = this.source.realm.realm.id;
    const emails = new Map(this.source.realm.users.map(({ user }) => [user.id, user.email]));
    this.tables.begin(ATTACHMENT_FILE, 'uploads');
    for await (const { file, messageIds, content } of this.source.files()) {
      const path = `uploads/${file.pathId}`;
      await this.tables.add(ATTACHMENT_FILE, {
        id: file.id,
        realm,
        owner: file.ownerId,
        file_name: file.name,
        path_id: file.pathId,
        create_time: file.createdAt,
        size: file.size,
        content_type: file.contentType,
        is_realm_public: false,
        is_web_public: false,
        messages: messageIds,
        scheduled_messages: [],
      });
      if (!content) continue;
      await this.tables.add('uploads', {
        realm_id: realm,
        user_profile_id: file.ownerId,
        user_profile_email: emails.get(file.ownerId),
        path: file.pathId,
        s3_path: file.pathId,
        size: file.size,
        content_type: file.contentType,
        last_modified: file.createdAt,
      });
      await this.addStream(path, file.size, content);
      await this.rest();
    }
  }

  private async writeEmoji(): Promise<void> {
    const { customEmoji, realm } = this.source.realm;
    const emoji = new Map(customEmoji.map((it) => [it.id, it]));
    await this.writePictures('emoji', this.source.emojiPictures(), (id) => {
      const { authorId, fileName, name, isDeactivated } = getOrThrow(emoji, id);
      const path = `${realm.id}/emoji/images/${fileName}`;
      return { path, author: authorId, file_name: fileName, name, deactivated: isDeactivated };
    });
  }

  private async writeAvatars(): Promise<void> {
    const { realm, users } = this.source.realm;
    const people = new Map(users.map(({ user }) => [user.id, user]));
    // Only originals; importing servers create their own sizes.
    await this.writePictures('avatars', this.source.avatars(), (id) => ({
      path: `${realm.id}/${id}.original`,
      user_profile_id: id,
      user_profile_email: getOrThrow(people, id).email,
      avatar_version: getOrThrow(people, id).avatar.version,
      content_type: 'image/png',
    }));
  }

  /** `recordOf`: record properties beyond those common to all pictures. */
  private async writePictures<Of>(
    folder: PictureFolder,
    pictures: AsyncIterable<PictureCopy<Of>>,
    recordOf: (of: Of) => { readonly path: string },
  ): Promise<void> {
    const records = PICTURE_RECORDS[folder];
    this.tables.begin(records);
    for await (const { of, size, content } of pictures) {
      if (!content) continue;
      const record = recordOf(of);
      await this.tables.add(records, { realm_id: this.source.realm.realm.id, s3_path: record.path, size, ...record });
      await this.addStream(`${folder}/${record.path}`, size, content);
      await this.rest();
    }
  }

  /** Writes all tables as one document, reading the long ones back from disk. */
  private async writeRealm(): Promise<void> {
    await this.addTable('uploads/records.json', 'uploads', '[', ']\n');
    for (const records of Object.values(PICTURE_RECORDS)) await this.addTable(records, records, '[', ']\n');
    await this.addTable(ATTACHMENT_FILE, ATTACHMENT_FILE, '{"zerver_attachment":[', ']}\n');
    const short = { ...realmTables(this.source.realm, this.options.names), zerver_client: this.clients.rows() };
    const pieces: (Uint8Array | string)[] = await this.restingBetween(jsonPieces(short));
    // Removes the closing brace, since other tables follow.
    pieces.pop();
    for (const table of TABLES_OF_PEOPLE) pieces.push(Buffer.from(`,\n"${table}":[`), table, Buffer.from(']'));
    pieces.push(Buffer.from('}\n'));
    let size = 0;
    for (const piece of pieces) size += typeof piece === 'string' ? await this.tables.sizeOf(piece) : piece.length;
    const { tables } = this;
    await this.addStream(
      REALM_FILE,
      size,
      (async function* () {
        for (const piece of pieces) {
          if (typeof piece === 'string') yield* tables.read(piece);
          else yield piece;
        }
      })(),
    );
  }

  private async addTable(name: string, table: string, start: string, end: string): Promise<void> {
    const { tables } = this;
    const [before, after] = [Buffer.from(start), Buffer.from(end)];
    const size = before.length + (await tables.sizeOf(table)) + after.length;
    const content = (async function* () {
      yield before;
      yield* tables.read(table);
      yield after;
    })();
    await this.addStream(name, size, content);
  }

  private addBytes(name: string, pieces: readonly Buffer[]): Promise<void> {
    return this.addStream(
      name,
      pieces.reduce((sum, { length }) => sum + length, 0),
      (async function* () {
        for (const piece of pieces) {
          for (let start = 0; start < piece.length; start += CHUNK) yield piece.subarray(start, start + CHUNK);
        }
      })(),
    );
  }

  private async restingBetween<T>(pieces: Iterable<T>): Promise<T[]> {
    const all: T[] = [];
    for (const piece of pieces) {
      all.push(piece);
      await this.rest();
    }
    return all;
  }

  private async addStream(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const header = { name: `${ROOT}/${name}`, size, mode: 0o600 };
    const entry = this.archive.entry(header) as unknown as Writable;
    let written = 0;
    for await (const chunk of content) {
      written += chunk.length;
      if (written > size) break;
      if (!entry.write(chunk)) await drained(entry);
    }
    if (written !== size) throw new Error(`The size of ${name} has changed`);
    await new Promise<void>((resolve, reject) => {
      entry.once('error', reject);
      entry.once('finish', () => resolve());
      entry.end();
    });
  }

  private async rest(): Promise<void> {
    await this.options.rest?.();
  }
}

/** About two milliseconds of work. */
const HOLDERS_BEFORE_REST = 5000;

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed) return reject(new Error('The export was cancelled'));
    const end = (error?: Error) => {
      stream.off('drain', onDrain).off('error', end).off('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = () => end();
    const onClose = () => end(new Error('The export was cancelled'));
    stream.on('drain', onDrain).on('error', end).on('close', onClose);
  });
}
