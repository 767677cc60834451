import type { ExportRepository, RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import type { ExportId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import type { Statements } from '../engine/statements.js';

export class SqlExportRepository implements ExportRepository {
  private readonly byId;
  private readonly byPath;
  private readonly all;
  private readonly blobsAmong;
  private readonly insert;
  private readonly update;
  private readonly removeOne;

  constructor(private readonly connection: Statements) {
    this.byId = connection.rows<ExportRow>('SELECT * FROM realm_export WHERE id = ? AND realm_id = ?');
    this.byPath = connection.rows<ExportRow>('SELECT * FROM realm_export WHERE path_id = ? AND realm_id = ?');
    this.all = connection.rows<ExportRow>('SELECT * FROM realm_export WHERE realm_id = ? ORDER BY id');
    this.blobsAmong = connection.values<BlobKey>(
      `SELECT blob FROM realm_export WHERE blob ${connection.dialect.inSet}`,
    );
    this.insert = connection.values<ExportId>(
      `INSERT INTO realm_export (realm_id, acting_user_id, type, requested_at, path_id, status, blob, size, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.update = connection.command(
      'UPDATE realm_export SET status = ?, blob = ?, size = ?, ended_at = ? WHERE id = ? AND realm_id = ?',
    );
    this.removeOne = connection.command('DELETE FROM realm_export WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: ExportId): Promise<RealmExport | null> {
    const row = await this.byId.get(id, realmId);
    return row ? toExport(row) : null;
  }

  async findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null> {
    const row = await this.byPath.get(pathId, realmId);
    return row ? toExport(row) : null;
  }

  async list(realmId: RealmId): Promise<readonly RealmExport[]> {
    return (await this.all.all(realmId)).map(toExport);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(await this.blobsAmong.all(this.connection.dialect.set(keys)));
  }

  async add(newExport: Omit<RealmExport, 'id'>): Promise<RealmExport> {
    const { realmId, actingUserId, type, requestedAt, pathId, state } = newExport;
    const id = (await this.insert.get(realmId, actingUserId, type, requestedAt, pathId, ...columnsOf(state)))!;
    return { id, ...newExport };
  }

  async setState(realmId: RealmId, id: ExportId, state: RealmExport['state']): Promise<void> {
    this.update.defer(...columnsOf(state), id, realmId);
  }

  async remove(realmId: RealmId, id: ExportId): Promise<void> {
    this.removeOne.defer(id, realmId);
  }
}

interface ExportRow {
  readonly id: ExportId;
  readonly realm_id: RealmId;
  readonly acting_user_id: UserId;
  readonly type: RealmExport['type'];
  readonly requested_at: UnixSeconds;
  readonly path_id: string;
  readonly status: RealmExport['state']['status'];
  readonly blob: BlobKey | null;
  readonly size: number | null;
  readonly ended_at: UnixSeconds | null;
}

type StateColumns = [ExportRow['status'], ExportRow['blob'], ExportRow['size'], ExportRow['ended_at']];

function columnsOf(state: RealmExport['state']): StateColumns {
  switch (state.status) {
    case 'pending':
      return ['pending', null, null, null];
    case 'complete':
      return ['complete', state.blob, state.size, null];
    default:
      return [state.status, null, null, state.at];
  }
}

function stateOf({ status, blob, size, ended_at }: ExportRow): RealmExport['state'] {
  if (status === 'pending') return { status };
  if (status === 'complete') return { status, blob: blob!, size: size! };
  return { status, at: ended_at! };
}

const toExport = (row: ExportRow): RealmExport => ({
  id: row.id,
  realmId: row.realm_id,
  actingUserId: row.acting_user_id,
  type: row.type,
  requestedAt: row.requested_at,
  pathId: row.path_id,
  state: stateOf(row),
});

const TABLES = `
-- Exports that administrators requested.

CREATE TABLE realm_export (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  acting_user_id {int} NOT NULL,
  -- 'public', 'withConsent' or 'withoutConsent'.
  type {text} NOT NULL,
  requested_at {int} NOT NULL,
  -- Unguessable last part of the URL.
  path_id {text} NOT NULL UNIQUE,
  -- 'pending', 'complete', 'failed' or 'deleted'.
  status {text} NOT NULL,
  -- Blob and size in bytes of a complete export; null otherwise.
  blob {text},
  size {int},
  -- Time of failure or deletion; null otherwise.
  ended_at {int}
) {strict};
CREATE INDEX realm_export_by_realm ON realm_export (realm_id, id);
CREATE UNIQUE INDEX realm_export_by_blob ON realm_export (blob) WHERE blob IS NOT NULL;

-- Ranges of ids that an import gave to older messages; exclusive to that import.
CREATE TABLE imported_messages (
  realm_id {int} PRIMARY KEY REFERENCES realm (id),
  first_id {int} NOT NULL,
  last_id {int} NOT NULL
) {strict};
CREATE UNIQUE INDEX imported_messages_by_id ON imported_messages (first_id, last_id);
`;

export const EXPORT_FEATURE = {
  schema: 'exports',
  steps: { 1: TABLES },
  realmTables: ['imported_messages', 'realm_export'],
  notExported: {
    imported_messages: 'The range is noted by each import.',
    realm_export: 'Archives stay on the server that made them.',
  },
  repositories: () => (connection) => ({ exports: new SqlExportRepository(connection) }),
} satisfies StorageFeature;
