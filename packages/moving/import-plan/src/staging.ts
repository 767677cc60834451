import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { topicKey } from '@parley/domain/channels';
import type { ImportedKind } from '@parley/domain/exports';
import { invalidImport, lastOf, shape } from '@parley/domain/kernel';
import { IMPORT_FOLDER } from '@parley/export-files';
import { ImportLedger, type ImportRecord, type ImportRecordKind } from '@parley/transfer/records';
import type { Database, Statement } from 'better-sqlite3';
import { checkRecord } from './check-record.js';
import type { ExistingOrganization } from './existing-organization.js';
import { Gaps } from './gaps.js';
import { messageParts } from './message-parts.js';
import { NumberSet } from './number-set.js';
import { openSqlite } from './open-sqlite.js';

/** Record with its number in the ledger. */
export interface StagedRecord<Kind extends ImportRecordKind> {
  readonly number: number;
  readonly record: Extract<ImportRecord, { readonly kind: Kind }>;
  readonly json: string;
}

interface Row {
  readonly number: number;
  readonly json: string;
}

/** Kinds of records that belong to a message. */
export type MessageDetail = 'reaction' | 'edit' | 'deletion' | 'pin';

/** Number and id of a message. */
export interface MessageKey {
  readonly number: number;
  readonly id: string;
}

/** Reactions and edits of a message, in the order of `details`. */
export interface MessageChanges {
  readonly reactions: readonly StagedRecord<'reaction'>[];
  readonly edits: readonly StagedRecord<'edit'>[];
}

interface PagedQuery<Row> {
  /** Orders the rows by key. Parameters: the key to start after, `parameters`, and the number of rows. */
  readonly sql: string;
  readonly parameters?: readonly unknown[];
  /** Start, below all keys. */
  readonly after: number | string;
  keyOf(row: Row): number | string;
  /** Default: `PAGE`. */
  readonly limit?: number;
}

/** Conditions and orders of the index `records_by_parent`. */
const IS_DETAIL = `kind = ? AND kind <> 'message' AND parent IS NOT NULL`;
const OLDEST_FIRST = 'parent, at, number';
const NEWEST_FIRST = 'parent DESC, at DESC, number DESC';

const SCHEMA = `
  CREATE TABLE records (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, at REAL NOT NULL, json TEXT NOT NULL
  );
  CREATE UNIQUE INDEX records_by_id ON records (kind, id);
  CREATE TABLE planned (
    number INTEGER PRIMARY KEY, record INTEGER, role TEXT NOT NULL, place TEXT NOT NULL, topic TEXT NOT NULL, at REAL NOT NULL
  );
  CREATE TABLE topics (place TEXT NOT NULL, thread TEXT, key TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (place, key));
  CREATE INDEX topics_by_thread ON topics (place, thread);
  CREATE TABLE files (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner INTEGER, json TEXT NOT NULL DEFAULT '', path TEXT, same INTEGER,
    size INTEGER, digest BLOB
  );
  CREATE INDEX files_by_path ON files (path, owner) WHERE path IS NOT NULL;
  CREATE INDEX files_by_size ON files (size, owner, digest) WHERE path IS NOT NULL;
  CREATE TABLE known (
    kind TEXT NOT NULL, record TEXT NOT NULL, target INTEGER NOT NULL, hash TEXT NOT NULL, own INTEGER NOT NULL,
    PRIMARY KEY (kind, record)
  ) WITHOUT ROWID;
  CREATE TABLE grown_threads (
    number INTEGER PRIMARY KEY, thread TEXT NOT NULL, channel TEXT NOT NULL, target INTEGER NOT NULL
  );
  CREATE TABLE changed (number INTEGER PRIMARY KEY);
  CREATE TABLE deleted (record TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE known_files (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE attachments (file INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (file, message)) WITHOUT ROWID;
  CREATE INDEX attachments_by_message ON attachments (message);
`;

type StoredRecord = Exclude<ImportRecord, { readonly kind: 'skipped' }>;

const CACHE_KIB = 32_768;
/** Maximum number of records of one kind that belong to one message, because they are read at once. */
export const MAX_DETAILS = 10_000;
/** Maximum number of people, because the plan keeps all in memory. */
export const MAX_PEOPLE = 200_000;
/** Number of records read at once. */
const PAGE = 1000;

/**
 * All records of an import in a temporary database, so that memory does not grow with the export and records may refer
 * to later ones.
 */
export class Staging {
  readonly ledger = new ImportLedger();
  readonly database: Database;
  /** Source of all records; null before the first. */
  source: string | null = null;
  /** Damaged and missing parts of the export. */
  readonly gaps = new Gaps();
  /** Highest id of a message that an earlier import created; 0 if there is none. Ids of new messages are higher. */
  lastKnown = 0;
  private readonly folder: string;
  private people = 0;
  /** Kinds with records, which saves look-ups of rare kinds for every message. */
  private readonly kinds = new Set<ImportRecordKind>();
  /** Numbers of messages with records that belong to them, by the kind of these. */
  private readonly parents = new Map<ImportRecordKind, NumberSet>();
  /** Messages by the number of a part with further files. */
  private readonly heads = new Map<number, number>();
  private readonly statements = new Map<string, Statement<unknown[], unknown>>();

  /** @param maxBytes size above which records fail with SQLITE_FULL */
  constructor(temporaryFolder: string, maxBytes: number) {
    this.folder = mkdtempSync(join(temporaryFolder, IMPORT_FOLDER));
    this.database = openSqlite(join(this.folder, 'records.sqlite'));
    this.database.pragma('journal_mode = OFF');
    this.database.pragma('synchronous = OFF');
    this.database.pragma('locking_mode = EXCLUSIVE');
    this.database.pragma(`cache_size = -${CACHE_KIB}`);
    this.database.exec(SCHEMA);
    const pageSize = this.database.pragma('page_size', { simple: true }) as number;
    this.database.pragma(`max_page_count = ${Math.ceil(maxBytes / pageSize)}`);
  }

  /** @throws DomainError INVALID_IMPORT */
  async addAll(records: AsyncIterable<ImportRecord>): Promise<void> {
    this.database.exec('BEGIN');
    for await (const record of records) this.add(record);
    this.database.exec('COMMIT');
    this.database.exec(`
      CREATE INDEX records_by_kind ON records (kind, number) WHERE kind <> 'message';
      CREATE INDEX records_by_parent ON records (kind, parent, at, number) WHERE kind <> 'message' AND parent IS NOT NULL;
      CREATE INDEX messages_by_time ON records (at, number) WHERE kind = 'message';
    `);
  }

  /** Remembers messages of earlier imports. */
  async addKnown({ messages, isOwnBatch }: Pick<ExistingOrganization, 'messages' | 'isOwnBatch'>): Promise<void> {
    this.database.exec('BEGIN');
    for await (const page of messages()) {
      for (const { kind, recordId, targetId, hash, batchId } of page) {
        const own = Number(isOwnBatch(batchId));
        this.run('INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?)', kind, recordId, targetId, hash, own);
        this.lastKnown = Math.max(this.lastKnown, targetId);
      }
    }
    this.database.exec('COMMIT');
  }

  /** Returns the message that an earlier import created from a record, or from a line about it. */
  known(kind: ImportedKind, recordId: string): number | null {
    if (this.lastKnown === 0) return null;
    const sql = 'SELECT target FROM known WHERE kind = ? AND record = ?';
    return this.get<{ readonly target: number }>(sql, kind, recordId)?.target ?? null;
  }

  /** True if the message of an earlier import has another digest now, and the requester may change it. */
  isChanged(recordId: string, hash: string): boolean {
    const sql = `SELECT 1 FROM known WHERE kind = 'message' AND record = ? AND hash <> ? AND own`;
    return this.get(sql, recordId, hash) !== undefined;
  }

  close(): void {
    this.database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  find<Kind extends ImportRecordKind>(kind: Kind, id: string): StagedRecord<Kind> | null {
    if (!this.kinds.has(kind)) return null;
    return this.one<Kind>('SELECT number, json FROM records WHERE kind = ? AND id = ?', kind, id);
  }

  /** Reads records in the order of the stream. */
  *list<Kind extends Exclude<ImportRecordKind, 'message'>>(kind: Kind): Generator<StagedRecord<Kind>> {
    const sql = `SELECT number, json FROM records
      WHERE number > ? AND kind = ? AND kind <> 'message' ORDER BY number LIMIT ?`;
    for (const page of this.pages<Row>({ sql, parameters: [kind], after: -1, keyOf: ({ number }) => number })) {
      for (const row of page) yield staged<Kind>(row);
    }
  }

  /** Reads records that belong to messages, grouped by message: edits newest first, others in the order of the stream. */
  *byMessage<Kind extends MessageDetail>(kind: Kind): Generator<StagedRecord<Kind> & { readonly message: string }> {
    if (!this.kinds.has(kind)) return;
    const rows = this.statement(
      `SELECT number, json, parent FROM records WHERE ${IS_DETAIL} ORDER BY ${kind === 'edit' ? NEWEST_FIRST : OLDEST_FIRST}`,
    ).iterate(kind);
    for (const row of rows as IterableIterator<Row & { readonly parent: string }>) {
      yield { ...staged<Kind>(row), message: row.parent };
    }
  }

  changes(message: MessageKey): MessageChanges {
    return { reactions: this.details('reaction', message), edits: this.details('edit', message) };
  }

  /** Reads the first `MAX_DETAILS` records that belong to a message, in the order of `byMessage`. */
  details<Kind extends MessageDetail>(kind: Kind, message: MessageKey): readonly StagedRecord<Kind>[] {
    if (!this.isParent(kind, message.number)) return [];
    // SQLite plans by the value of a bare `LIMIT ?`, and therefore compiles the statement again on each run.
    return this.all<Row>(
      `SELECT number, json FROM records WHERE ${IS_DETAIL} AND parent = ?
       ORDER BY ${kind === 'edit' ? NEWEST_FIRST : OLDEST_FIRST} LIMIT ? + 0`,
      kind,
      message.id,
      MAX_DETAILS,
    ).map((row) => staged<Kind>(row));
  }

  /** True if a record deletes the message, also of a part with further files. */
  isDeleted(message: number): boolean {
    return this.isParent('deletion', this.heads.get(message) ?? message);
  }

  /** True if records of the kind belong to this message. */
  isParent(kind: MessageDetail | 'message', message: number): boolean {
    if (!this.kinds.has(kind)) return false;
    const known = this.parents.get(kind) ?? this.parentsOf(kind);
    return known.has(message);
  }

  /** Reads messages by time. */
  *messages(): Generator<StagedRecord<'message'>> {
    let at = -1;
    let number = -1;
    for (;;) {
      const page = this.all<Row & { readonly at: number }>(
        // The hint keeps SQLite from sorting all messages for every page.
        `SELECT number, at, json FROM records INDEXED BY messages_by_time
         WHERE kind = 'message' AND (at, number) > (?, ?) ORDER BY at, number LIMIT ?`,
        at,
        number,
        PAGE,
      );
      for (const row of page) yield staged<'message'>(row);
      if (page.length < PAGE) return;
      ({ at, number } = lastOf(page));
    }
  }

  /** Yields all rows in pages, none of them empty. */
  *pages<T>({ sql, parameters = [], after, keyOf, limit = PAGE }: PagedQuery<T>): Generator<readonly T[]> {
    for (let key = after; ; ) {
      const page = this.all<T>(sql, key, ...parameters, limit);
      if (page.length > 0) yield page;
      if (page.length < limit) return;
      key = keyOf(lastOf(page));
    }
  }

  /** Returns false if another thread of the place has the topic. */
  reserveTopic(place: string, thread: string | null, topic: string): boolean {
    const sql = 'INSERT OR IGNORE INTO topics (place, thread, key, topic) VALUES (?, ?, ?, ?)';
    return this.run(sql, place, thread, topicKey(topic), topic) > 0;
  }

  get<T>(sql: string, ...parameters: unknown[]): T | undefined {
    return this.statement(sql).get(...parameters) as T | undefined;
  }

  all<T>(sql: string, ...parameters: unknown[]): T[] {
    return this.statement(sql).all(...parameters) as T[];
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...parameters: unknown[]): number {
    return this.statement(sql).run(...parameters).changes;
  }

  private add(read: ImportRecord): void {
    const number = this.ledger.read();
    const record = checkRecord(read, `record ${number + 1}`);
    this.source ??= record.source;
    if (record.source !== this.source) {
      throw shape.wrong(`record ${number + 1}`, `is of another source than ${JSON.stringify(this.source)}`);
    }
    if (record.kind === 'skipped') {
      if (record.gap) this.gaps.add({ ...record.gap, part: record.id, reason: record.reason });
      this.ledger.account(number, record, 'dropped', `${record.type}: ${record.reason}`);
      return;
    }
    if (record.kind !== 'message') {
      this.insert(number, record);
      return;
    }
    for (const part of messageParts(record)) {
      const isFirst = part.id === record.id;
      const partNumber = isFirst ? number : this.ledger.read();
      if (!isFirst) this.heads.set(partNumber, number);
      this.insert(partNumber, part);
    }
  }

  private insert(number: number, record: StoredRecord): void {
    const { kind, id } = record;
    const json = JSON.stringify(withoutSecrets(record));
    const isNew = this.run(
      'INSERT OR IGNORE INTO records (number, kind, id, parent, at, json) VALUES (?, ?, ?, ?, ?, ?)',
      number,
      kind,
      id,
      parentOf(record),
      record.kind === 'message' ? record.sentAt : record.kind === 'edit' ? record.at : 0,
      json,
    );
    this.kinds.add(kind);
    if (kind === 'person' && ++this.people > MAX_PEOPLE) throw invalidImport(`It has more than ${MAX_PEOPLE} people.`);
    if (isNew) return;
    const isEqual = this.get<Row>('SELECT json FROM records WHERE kind = ? AND id = ?', kind, id)!.json === json;
    this.ledger.account(
      number,
      record,
      isEqual ? 'merged' : 'dropped',
      isEqual ? 'repeated record' : 'another record has the same id',
    );
  }

  private parentsOf(kind: MessageDetail | 'message'): NumberSet {
    const parents = new NumberSet();
    // Looking up each parent once is faster than looking for children of every message.
    const children =
      kind === 'message' ? 'records NOT INDEXED WHERE kind = ? AND parent IS NOT NULL' : `records WHERE ${IS_DETAIL}`;
    const rows = this.statement(
      `SELECT messages.number FROM (SELECT DISTINCT parent FROM ${children}) children
       CROSS JOIN records messages ON messages.kind = 'message' AND messages.id = children.parent`,
    ).iterate(kind);
    for (const { number } of rows as IterableIterator<{ readonly number: number }>) parents.add(number);
    this.parents.set(kind, parents);
    return parents;
  }

  private one<Kind extends ImportRecordKind>(sql: string, ...parameters: unknown[]): StagedRecord<Kind> | null {
    const row = this.get<Row>(sql, ...parameters);
    return row ? staged<Kind>(row) : null;
  }

  private statement(sql: string): Statement<unknown[], unknown> {
    const existing = this.statements.get(sql);
    if (existing) return existing;
    const prepared = this.database.prepare<unknown[], unknown>(sql);
    this.statements.set(sql, prepared);
    return prepared;
  }
}

const staged = <Kind extends ImportRecordKind>({ number, json }: Row): StagedRecord<Kind> => ({
  number,
  record: JSON.parse(json),
  json,
});

/** URLs of files may contain access tokens. */
const withoutSecrets = (record: ImportRecord): ImportRecord =>
  record.kind === 'file' && record.url !== undefined ? { ...record, url: '' } : record;

/** Returns the id of the message or thread that the record belongs to. */
function parentOf(record: ImportRecord): string | null {
  switch (record.kind) {
    case 'message':
      return record.thread === undefined || record.thread === record.id ? null : record.thread;
    case 'reaction':
    case 'edit':
    case 'deletion':
    case 'pin':
      return record.message;
    default:
      return null;
  }
}
