import { createHash, randomBytes } from 'node:crypto';
import { nameOfFile, pathIdOf } from '@parley/domain/files';
import type { FileId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { FileRecord, OpenImport } from '@parley/transfer/records';
import { BEFORE, type PlannedPeople } from './plan-people.js';
import type { Staging } from './staging.js';

/** File that messages refer to. */
export interface PlannedFile {
  readonly id: FileId;
  readonly name: string;
  readonly owner: UserId;
  readonly createdAt: number;
  readonly contentType: string;
  /** End of the URL on this server; null if the bytes are missing. */
  readonly pathId: string | null;
  /** Location of the bytes in the export, or null for a text that the import wrote. */
  readonly path: string | null;
  readonly size: number;
  /** True for a picture that is shown in messages. */
  readonly isPicture: boolean;
  /** Reason for missing bytes; empty if there is none. */
  readonly missing: string;
  /** Written text, such as a message that is too long. */
  readonly text?: string;
}

/** Id of the organization in the plan; the import replaces it. */
export const PLANNED_REALM_ID = 1 as RealmId;

const FILES_AT_A_TIME = 100;

/** Number of random bytes in the path of a file. */
const PATH_BYTES = 20;

const newPathId = (name: string): string => pathIdOf(PLANNED_REALM_ID, name, randomBytes(PATH_BYTES).toString('hex'));

/** Decides about all files. `pictures` are files with avatars and emoji. */
export async function planFiles(
  staging: Staging,
  people: PlannedPeople,
  opened: OpenImport,
  pictures: ReadonlySet<string>,
): Promise<void> {
  const { ledger } = staging;
  for (const { number, record } of staging.list('file')) {
    const row = staging.get<{ readonly owner: UserId }>('SELECT owner FROM files WHERE id = ?', record.id);
    const size = record.path === undefined ? null : await opened.sizeOf(record.path);
    if (row) {
      const owner = record.owner === undefined ? row.owner : people.get(record.owner).id;
      const same = size === null ? null : await equalFile(staging, opened, record, size, owner);
      const isPicture = same?.isPicture ?? (size !== null && (await isPictureAt(opened, record.path!)));
      const file = same ? { ...same, name: nameOfFile(record.name) } : planFile(record, size, owner, isPicture);
      const sql = 'UPDATE files SET json = ?, owner = ?, path = ?, size = ?, same = ? WHERE id = ?';
      const path = same || size === null ? null : record.path;
      staging.run(sql, JSON.stringify(file), owner, path, size, same?.id ?? null, record.id);
    }
    const isUsed = row !== undefined || pictures.has(record.id);
    if (!isUsed && staging.get('SELECT 1 FROM known_files WHERE id = ?', record.id)) {
      ledger.account(number, record, 'merged', BEFORE);
    } else if (!isUsed) ledger.account(number, record, 'dropped', 'no message refers to it');
    else if (size !== null) ledger.account(number, record, 'imported');
    else if (record.url !== undefined) ledger.account(number, record, 'waiting', NOT_DOWNLOADED);
    else ledger.account(number, record, row ? 'represented' : 'dropped', record.missing ?? NOT_IN_EXPORT);
  }
}

/**
 * Returns the file that an earlier record made of the same bytes, so that they are stored once per owner. Bytes are read
 * only if another file has the same size.
 */
async function equalFile(
  staging: Staging,
  opened: OpenImport,
  { path, contentType }: FileRecord,
  size: number,
  owner: UserId,
): Promise<PlannedFile | null> {
  const atPath = staging.get<FileRow>('SELECT number, json FROM files WHERE path = ? AND owner = ?', path, owner);
  if (atPath) return fileOf(atPath);
  const ofSize = 'FROM files WHERE path IS NOT NULL AND size = ? AND owner = ?';
  if (!staging.get(`SELECT 1 ${ofSize}`, size, owner)) return null;
  for (const row of staging.all<FileRow>(`SELECT number, json ${ofSize} AND digest IS NULL`, size, owner)) {
    const file = fileOf(row);
    const digest = await digestOf(opened, file.path!, file.contentType);
    staging.run('UPDATE files SET digest = ? WHERE number = ?', digest, row.number);
  }
  const digest = await digestOf(opened, path!, contentType ?? UNKNOWN_TYPE);
  const equal = staging.get<FileRow>(`SELECT number, json ${ofSize} AND digest = ?`, size, owner, digest);
  return equal ? fileOf(equal) : null;
}

async function digestOf(opened: OpenImport, path: string, contentType: string): Promise<Buffer> {
  const hash = createHash('sha256').update(`${contentType}\0`);
  for await (const chunk of (await opened.openFile(path)) ?? []) hash.update(chunk);
  return hash.digest();
}

const UNKNOWN_TYPE = 'application/octet-stream';

const NOT_DOWNLOADED = 'not downloaded';
const NOT_IN_EXPORT = 'not in the export';

function planFile(record: FileRecord, size: number | null, owner: UserId, isPicture: boolean): Omit<PlannedFile, 'id'> {
  const name = nameOfFile(record.name);
  return {
    name,
    owner,
    createdAt: Math.floor(record.createdAt ?? 0),
    contentType: record.contentType ?? UNKNOWN_TYPE,
    pathId: size === null ? null : newPathId(name),
    path: record.path ?? null,
    size: size ?? 0,
    isPicture,
    missing: size === null ? (record.missing ?? (record.url === undefined ? NOT_IN_EXPORT : NOT_DOWNLOADED)) : '',
  };
}

/** Start of PNG, JPEG, GIF and WebP. Other files never get a thumbnail, and would show a placeholder forever. */
const PICTURE_START = /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP)/s;

export const startsLikePicture = (bytes: Uint8Array): boolean =>
  PICTURE_START.test(Buffer.from(bytes.subarray(0, 12)).toString('latin1'));

async function isPictureAt(opened: OpenImport, path: string): Promise<boolean> {
  for await (const chunk of (await opened.openFile(path)) ?? []) return startsLikePicture(chunk);
  return false;
}

/** Files of the plan, read from the staging database. */
export class PlannedFiles {
  constructor(private readonly staging: Staging) {}

  /** Returns null if no record describes the file. */
  find(id: string): PlannedFile | null {
    const row = this.staging.get<FileRow>('SELECT coalesce(same, number) AS number, json FROM files WHERE id = ?', id);
    return row && row.json !== '' ? fileOf(row) : null;
  }

  /** Adds a text that a message links to. `key` identifies it. */
  addText(key: string, name: string, text: string, owner: UserId, createdAt: number): PlannedFile {
    const file = {
      name,
      owner,
      createdAt: Math.floor(createdAt),
      contentType: name.endsWith('.json') ? 'application/json' : 'text/markdown',
      pathId: newPathId(name),
      path: null,
      size: Buffer.byteLength(text),
      isPicture: false,
      missing: '',
      text,
    };
    const id = `\0${key}`;
    this.staging.run(
      'INSERT OR REPLACE INTO files (id, owner, json) VALUES (?, ?, ?)',
      id,
      owner,
      JSON.stringify(file),
    );
    return this.find(id)!;
  }

  attach(file: PlannedFile, message: number): void {
    this.staging.run('INSERT OR IGNORE INTO attachments (file, message) VALUES (?, ?)', file.id, message);
  }

  /** Files with bytes that are attached to some of these messages. */
  *filesOf(ids: readonly MessageId[]): Generator<{ readonly file: PlannedFile; readonly messageIds: MessageId[] }> {
    const rows = this.staging.all<{ readonly file: number; readonly message: MessageId }>(
      'SELECT file, message FROM attachments WHERE message BETWEEN ? AND ? ORDER BY file, message',
      ids[0],
      ids.at(-1),
    );
    const messages = new Map<number, MessageId[]>();
    for (const { file, message } of rows) messages.set(file, [...(messages.get(file) ?? []), message]);
    for (const [number, messageIds] of messages) {
      const row = this.staging.get<FileRow>('SELECT number, json FROM files WHERE number = ?', number);
      const file = fileOf(row!);
      if (file.pathId !== null) yield { file, messageIds };
    }
  }

  messagesOf(file: PlannedFile): readonly number[] {
    return this.staging
      .all<{ readonly message: number }>('SELECT message FROM attachments WHERE file = ? ORDER BY message', file.id)
      .map(({ message }) => message);
  }

  /** Files with bytes, by ascending id. */
  *list(): Generator<PlannedFile> {
    const sql = `SELECT number, json FROM files WHERE number > ? AND json <> '' AND same IS NULL ORDER BY number LIMIT ?`;
    const query = { sql, after: 0, keyOf: ({ number }: FileRow) => number, limit: FILES_AT_A_TIME };
    for (const page of this.staging.pages<FileRow>(query)) {
      for (const row of page) {
        const file = fileOf(row);
        if (file.pathId !== null) yield file;
      }
    }
  }
}

interface FileRow {
  readonly number: number;
  readonly json: string;
}

const fileOf = ({ number, json }: FileRow): PlannedFile => ({ ...JSON.parse(json), id: number as FileId });
