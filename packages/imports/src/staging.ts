import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ImportLedger, type ImportRecord, type ImportRecordKind } from '@parley/domain/imports';
import { shape } from '@parley/domain/kernel';
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import { checkRecord } from './check-record.js';

/** Prefix of temporary folders; the server removes those of killed imports after a day. */
const FOLDER_PREFIX = 'parley-import-';

/** Record with its number in the ledger. */
export interface StagedRecord<Kind extends ImportRecordKind> {
  readonly number: number;
  readonly record: Extract<ImportRecord, { readonly kind: Kind }>;
}

interface Row {
  readonly number: number;
  readonly json: string;
}

const SCHEMA = `
  CREATE TABLE records (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, at REAL, json TEXT NOT NULL
  );
  CREATE UNIQUE INDEX records_by_id ON records (kind, id);
  CREATE TABLE planned (
    number INTEGER PRIMARY KEY, record INTEGER, role TEXT NOT NULL, place TEXT NOT NULL, topic TEXT NOT NULL, at REAL NOT NULL
  );
  CREATE TABLE topics (place TEXT NOT NULL, thread TEXT, key TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (place, key));
  CREATE INDEX topics_by_thread ON topics (place, thread);
  CREATE TABLE files (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner INTEGER, json TEXT NOT NULL DEFAULT ''
  );
  CREATE TABLE attachments (file INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY (file, message)) WITHOUT ROWID;
`;

const CACHE_KIB = 65_536;
/** Records per transaction. */
const RECORDS_AT_A_TIME = 5000;
/** Maximum number of records of one kind that belong to one message, because they are read at once. */
const MAX_CHILDREN = 10_000;
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
  private readonly folder: string;
  /** Kinds with records, which saves look-ups of rare kinds for every message. */
  private readonly kinds = new Set<ImportRecordKind>();
  private readonly statements = new Map<string, Statement<unknown[], unknown>>();

  constructor(temporaryFolder: string) {
    this.folder = mkdtempSync(join(temporaryFolder, FOLDER_PREFIX));
    this.database = new Sqlite(join(this.folder, 'records.sqlite'));
    this.database.pragma('journal_mode = OFF');
    this.database.pragma('synchronous = OFF');
    this.database.pragma('locking_mode = EXCLUSIVE');
    this.database.pragma(`cache_size = -${CACHE_KIB}`);
    this.database.exec(SCHEMA);
  }

  /** @throws DomainError INVALID_IMPORT */
  async addAll(records: AsyncIterable<ImportRecord>): Promise<void> {
    this.database.exec('BEGIN');
    for await (const record of records) {
      this.add(record);
      if (this.ledger.records % RECORDS_AT_A_TIME === 0) this.database.exec('COMMIT; BEGIN');
    }
    this.database.exec('COMMIT');
    this.database.exec(`
      CREATE INDEX records_by_kind ON records (kind, number);
      CREATE INDEX records_by_parent ON records (kind, parent, number) WHERE parent IS NOT NULL;
      CREATE INDEX messages_by_time ON records (at, number) WHERE kind = 'message';
    `);
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
  *list<Kind extends ImportRecordKind>(kind: Kind): Generator<StagedRecord<Kind>> {
    let after = -1;
    for (;;) {
      const page = this.all<Row>(
        'SELECT number, json FROM records WHERE kind = ? AND number > ? ORDER BY number LIMIT ?',
        kind,
        after,
        PAGE,
      );
      for (const row of page) yield staged<Kind>(row);
      if (page.length < PAGE) return;
      after = page.at(-1)!.number;
    }
  }

  /** Reads the first records that belong to another one, such as reactions to a message, in the order of the stream. */
  children<Kind extends ImportRecordKind>(kind: Kind, parent: string): readonly StagedRecord<Kind>[] {
    if (!this.kinds.has(kind)) return [];
    return this.all<Row>(
      'SELECT number, json FROM records WHERE kind = ? AND parent = ? ORDER BY number LIMIT ?',
      kind,
      parent,
      MAX_CHILDREN,
    ).map((row) => staged<Kind>(row));
  }

  /** Reads the newest edits of a message, newest first. */
  edits(message: string, limit: number): readonly StagedRecord<'edit'>[] {
    if (!this.kinds.has('edit')) return [];
    return this.all<Row>(
      `SELECT number, json FROM records WHERE kind = 'edit' AND parent = ? ORDER BY at DESC, number DESC LIMIT ?`,
      message,
      limit,
    ).map((row) => staged<'edit'>(row));
  }

  hasChildren(kind: ImportRecordKind, parent: string): boolean {
    if (!this.kinds.has(kind)) return false;
    return this.get('SELECT 1 FROM records WHERE kind = ? AND parent = ? LIMIT 1', kind, parent) !== undefined;
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
      ({ at, number } = page.at(-1)!);
    }
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
      this.ledger.account(number, record, 'dropped', `${record.type}: ${record.reason}`);
      return;
    }
    const { kind, id } = record;
    const json = JSON.stringify(withoutSecrets(record));
    const isNew = this.run(
      'INSERT OR IGNORE INTO records (number, kind, id, parent, at, json) VALUES (?, ?, ?, ?, ?, ?)',
      number,
      kind,
      id,
      parentOf(record),
      record.kind === 'message' ? record.sentAt : record.kind === 'edit' ? record.at : null,
      json,
    );
    this.kinds.add(kind);
    if (isNew) return;
    const isEqual = this.get<Row>('SELECT json FROM records WHERE kind = ? AND id = ?', kind, id)!.json === json;
    this.ledger.account(
      number,
      record,
      isEqual ? 'merged' : 'dropped',
      isEqual ? 'repeated record' : 'another record has the same id',
    );
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
