import {
  IMPORT_BATCH_ROWS,
  IMPORT_RUN_ROWS,
  type ImportBatch,
  type ImportedKind,
  type ImportedRecord,
  type ImportedRecordRepository,
  type ImportRun,
  type RecordPosition,
} from '@parley/domain/exports';
import type { ImportBatchId, MessageId, RealmId } from '@parley/domain/kernel';
import { type RowTable, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { PAST } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

const RECORD = `SELECT batch_id AS "batchId", kind, record_id AS "recordId", target_id AS "targetId", hash,
  edited_at AS "editedAt", reactions FROM imported_record`;

export class SqlImportedRecordRepository implements ImportedRecordRepository {
  private readonly byRecord;
  private readonly ofBatch;
  private readonly answered;
  private readonly replace;
  private readonly delete;

  constructor(private readonly connection: Statements) {
    const { inSet } = connection.dialect;
    this.byRecord = connection.rows<ImportedRecord>(
      `${RECORD} WHERE record_id ${inSet} AND kind = ? AND realm_id = ? ORDER BY record_id, batch_id`,
    );
    this.ofBatch = connection.rows<ImportedRecord>(
      `${RECORD} WHERE realm_id = ? AND batch_id = ? AND kind = ? AND (target_id, record_id) > (?, ?)
       ORDER BY target_id, record_id LIMIT ? + 0`,
    );
    this.answered = connection.values<MessageId>(
      `SELECT m.id FROM message m WHERE m.id ${inSet} AND m.realm_id = ? AND (
         EXISTS (SELECT 1 FROM message o
                 WHERE o.recipient_id = m.recipient_id AND o.topic_key = m.topic_key AND o.id > ?)
         OR m.topic_key IS NULL AND EXISTS (SELECT 1 FROM message o WHERE o.recipient_id = m.recipient_id AND o.id > ?))`,
    );
    this.replace = connection.command(
      `INSERT INTO imported_record (realm_id, batch_id, kind, record_id, target_id, hash, edited_at, reactions)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, kind, record_id, batch_id) DO UPDATE
       SET target_id = excluded.target_id, hash = excluded.hash, edited_at = excluded.edited_at,
           reactions = excluded.reactions`,
    );
    this.delete = connection.command(
      'DELETE FROM imported_record WHERE realm_id = ? AND kind = ? AND record_id = ? AND batch_id = ?',
    );
  }

  async list(realmId: RealmId, kind: ImportedKind, recordIds: readonly string[]): Promise<readonly ImportedRecord[]> {
    return await this.byRecord.all(this.connection.dialect.set(recordIds), kind, realmId);
  }

  async listOfBatch(
    realmId: RealmId,
    { id, kind }: { readonly id: ImportBatchId; readonly kind: ImportedKind },
    after: RecordPosition,
    limit: number,
  ): Promise<readonly ImportedRecord[]> {
    return await this.ofBatch.all(realmId, id, kind, after.targetId, after.recordId, limit);
  }

  async listAnswered(realmId: RealmId, ids: readonly MessageId[], last: number): Promise<ReadonlySet<MessageId>> {
    return new Set(await this.answered.all(this.connection.dialect.set(ids), realmId, last, last));
  }

  async put(realmId: RealmId, records: readonly ImportedRecord[]): Promise<void> {
    for (const { batchId, kind, recordId, targetId, hash, editedAt, reactions } of records) {
      this.replace.defer(realmId, batchId, kind, recordId, targetId, hash, editedAt, reactions);
    }
  }

  async remove(
    realmId: RealmId,
    records: readonly Pick<ImportedRecord, 'batchId' | 'kind' | 'recordId'>[],
  ): Promise<void> {
    for (const { batchId, kind, recordId } of records) this.delete.defer(realmId, kind, recordId, batchId);
  }
}

const BATCH_TABLE: RowTable = new Table<ImportBatch>(IMPORT_BATCH_ROWS, {
  columns: {
    source: 'text',
    startedAt: 'int',
    status: 'text',
    createdRealm: 'flag',
    messages: 'int',
    lastMessageId: 'int',
    version: 'int',
    requesterId: 'int?',
  },
  addedColumns: ['version', 'requesterId'],
  indices: ['INDEX import_batch_by_realm ON import_batch (realm_id, id)'],
});

const TABLES = `
${BATCH_TABLE.sql}

-- Objects created by imports, by their ids in the source.
CREATE TABLE imported_record (
  realm_id {int} NOT NULL,
  batch_id {int} NOT NULL REFERENCES import_batch (id),
  kind {text} NOT NULL,
  record_id {text} NOT NULL,
  target_id {int} NOT NULL,
  hash {text} NOT NULL,
  edited_at {int},
  reactions {int} NOT NULL,
  PRIMARY KEY (realm_id, kind, record_id, batch_id)
) {withoutRowId};
CREATE INDEX imported_record_of_batch ON imported_record (batch_id, kind, target_id, record_id);
`;

const VERSION = `
-- expand: existing batches start at the first version.
ALTER TABLE import_batch ADD COLUMN version {int} NOT NULL DEFAULT 0;
`;

const REQUESTER = `
-- expand: existing batches count as the operator's.
ALTER TABLE import_batch ADD COLUMN requester_id {int};
`;

export const IMPORT_BATCH_FEATURE = {
  schema: 'imports',
  steps: { 26: TABLES, 31: VERSION, 34: REQUESTER },
  realmTables: ['imported_record', 'import_batch'],
  persons: {
    imported_record: {
      data: 'Ids of people in the system from which they were imported',
      fate: PAST,
      erase: "realm_id = {realm} AND kind = 'person' AND target_id = {id}",
    },
    import_batch: {
      data: 'Imports',
      fate: PAST,
      keep: { 'Ids without text.': ['requester_id'] },
      other: ['source', 'status'],
    },
  },
  notExported: {
    import_batch: 'It refers to exports of the original system.',
    imported_record: 'It refers to exports of the original system.',
  },
  rows: { importBatches: BATCH_TABLE },
  repositories: () => (connection) => ({ importedRecords: new SqlImportedRecordRepository(connection) }),
} satisfies StorageFeature;

export const IMPORT_RUN_FEATURE = {
  ...new Table<ImportRun>(IMPORT_RUN_ROWS, {
    columns: {
      requesterId: 'int',
      exportFileId: 'int',
      peopleFileId: 'int?',
      claimBy: 'text',
      sharesPublic: 'flag',
      status: 'text',
      startedAt: 'int',
      report: 'text?',
      reportFileId: 'int?',
      problem: 'text?',
    },
    indices: ['INDEX import_run_by_realm ON import_run (realm_id, id)'],
  }).feature(33, 'importRuns', {
    data: 'Imports of uploaded exports',
    fate: PAST,
    keep: { 'Ids without text.': ['requester_id'] },
    other: ['claim_by', 'status', 'report', 'problem'],
  }),
  notExported: { import_run: 'It refers to exports of the original system.' },
} satisfies StorageFeature;
