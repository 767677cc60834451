import type { RealmId } from '@parley/domain/kernel';
import type {
  AuditChain,
  AuditDetail,
  AuditEntry,
  AuditFilter,
  AuditLink,
  AuditRepository,
  StoredAuditEntry,
} from '@parley/domain/membership';
import type { StorageFeature } from '../engine/feature.js';
import { PAST } from '../engine/personal-data.js';
import type { Parameter, Statements } from '../engine/statements.js';

interface EntryRow extends Omit<AuditEntry, 'realmId'> {
  readonly salt: string | null;
  readonly content: string | null;
}

interface ChainRow {
  readonly anchorNumber: number;
  readonly anchorDigest: string;
  readonly lastNumber: number;
  readonly lastDigest: string;
}

const COLUMNS = `e.number, e.at, e.actor_id AS "actorId", e.program, e.action, e.subject_id AS "subjectId", e.target,
  e.changes, e.detail_digest AS "detailDigest", e.digest, d.salt, d.content`;

/** Conditions by property of the filter. */
const CONDITIONS: Readonly<Record<keyof AuditFilter, string>> = {
  actorId: 'e.actor_id = ?',
  subjectId: 'e.subject_id = ?',
  action: 'e.action = ?',
  since: 'e.at >= ?',
  until: 'e.at <= ?',
  before: 'e.number < ?',
};

export class SqlAuditRepository implements AuditRepository {
  private readonly chain;
  private readonly after;
  private readonly addEntry;
  private readonly addDetail;
  private readonly setLast;
  private readonly removeEntries;
  private readonly removeDetails;
  private readonly setAnchor;

  constructor(private readonly connection: Statements) {
    this.chain = connection.rows<ChainRow>(
      `SELECT anchor_number AS "anchorNumber", anchor_digest AS "anchorDigest", last_number AS "lastNumber",
         last_digest AS "lastDigest" FROM audit_chain WHERE realm_id = ?`,
    );
    this.after = this.select('e.number > ? ORDER BY e.number');
    this.addEntry = connection.command(
      `INSERT INTO audit_entry (realm_id, number, at, actor_id, program, action, subject_id, target, changes,
         detail_digest, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.addDetail = connection.command(
      'INSERT INTO audit_detail (realm_id, number, salt, content) VALUES (?, ?, ?, ?)',
    );
    this.setLast = connection.command(
      `INSERT INTO audit_chain (realm_id, anchor_number, anchor_digest, last_number, last_digest)
       VALUES (?, 0, '', ?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET last_number = excluded.last_number, last_digest = excluded.last_digest`,
    );
    this.removeEntries = connection.command('DELETE FROM audit_entry WHERE realm_id = ? AND number <= ?');
    this.removeDetails = connection.command('DELETE FROM audit_detail WHERE realm_id = ? AND number <= ?');
    this.setAnchor = connection.command(
      'UPDATE audit_chain SET anchor_number = ?, anchor_digest = ? WHERE realm_id = ?',
    );
  }

  async findChain(realmId: RealmId): Promise<AuditChain | null> {
    const row = await this.chain.get(realmId);
    return row
      ? {
          realmId,
          anchor: { number: row.anchorNumber, digest: row.anchorDigest },
          last: { number: row.lastNumber, digest: row.lastDigest },
        }
      : null;
  }

  async list(realmId: RealmId, filter: AuditFilter, limit: number): Promise<readonly StoredAuditEntry[]> {
    const given = (Object.keys(CONDITIONS) as (keyof AuditFilter)[]).filter((name) => filter[name] !== undefined);
    const conditions = ['e.number > 0', ...given.map((name) => CONDITIONS[name])].join(' AND ');
    const values = given.map((name) => filter[name] as Parameter);
    const rows = await this.select(`${conditions} ORDER BY e.number DESC`).all(realmId, ...values, limit);
    return rows.map((row) => entryOf(realmId, row));
  }

  async listAfter(realmId: RealmId, after: number, limit: number): Promise<readonly StoredAuditEntry[]> {
    return (await this.after.all(realmId, after, limit)).map((row) => entryOf(realmId, row));
  }

  async append(entry: AuditEntry, detail: AuditDetail | null): Promise<void> {
    const { realmId, number, at, actorId, program, action, subjectId, target, changes, detailDigest, digest } = entry;
    this.addEntry.defer(
      ...([realmId, number, at, actorId, program, action, subjectId, target, changes] as const),
      ...([detailDigest, digest] as const),
    );
    if (detail) this.addDetail.defer(realmId, number, detail.salt, detail.content);
    this.setLast.defer(realmId, number, digest);
  }

  async removeUpTo(realmId: RealmId, { number, digest }: AuditLink): Promise<void> {
    this.removeEntries.defer(realmId, number);
    this.removeDetails.defer(realmId, number);
    this.setAnchor.defer(number, digest, realmId);
  }

  private select(conditionsAndOrder: string) {
    return this.connection.rows<EntryRow>(
      `SELECT ${COLUMNS} FROM audit_entry e
       LEFT JOIN audit_detail d ON d.realm_id = e.realm_id AND d.number = e.number
       WHERE e.realm_id = ? AND ${conditionsAndOrder} LIMIT ? + 0`,
    );
  }
}

const entryOf = (realmId: RealmId, { salt, content, ...entry }: EntryRow): StoredAuditEntry => ({
  ...entry,
  realmId,
  detail: salt === null || content === null ? null : { salt, content },
});

const TABLES = `
-- expand: the audit log. The previous release writes no entries.

CREATE TABLE audit_entry (
  realm_id {int} NOT NULL REFERENCES realm (id),
  number {int} NOT NULL,
  at {int} NOT NULL,
  actor_id {int},
  program {text},
  action {text} NOT NULL,
  subject_id {int},
  target {text} NOT NULL,
  changes {text} NOT NULL,
  detail_digest {text},
  digest {text} NOT NULL,
  PRIMARY KEY (realm_id, number)
) {withoutRowId};
CREATE INDEX audit_entry_of_actor ON audit_entry (realm_id, actor_id, number);
CREATE INDEX audit_entry_of_subject ON audit_entry (realm_id, subject_id, number);
CREATE INDEX audit_entry_of_action ON audit_entry (realm_id, action, number);

-- Personal data of entries, deleted with the person.
CREATE TABLE audit_detail (
  realm_id {int} NOT NULL REFERENCES realm (id),
  number {int} NOT NULL,
  salt {text} NOT NULL,
  content {text} NOT NULL,
  PRIMARY KEY (realm_id, number)
) {withoutRowId};

CREATE TABLE audit_chain (
  realm_id {int} PRIMARY KEY REFERENCES realm (id),
  anchor_number {int} NOT NULL,
  anchor_digest {text} NOT NULL,
  last_number {int} NOT NULL,
  last_digest {text} NOT NULL
) {strict};
`;

const NOT_EXPORTED = 'It proves what happened on the original server.';

export const AUDIT_TABLES = {
  schema: 'audit',
  steps: { 46: TABLES },
  realmTables: ['audit_entry', 'audit_detail', 'audit_chain'],
  persons: {
    audit_entry: {
      data: 'Audit log',
      fate: PAST,
      keep: { 'Ids without text.': ['actor_id', 'subject_id'] },
      other: ['program', 'action', 'target', 'changes', 'detail_digest', 'digest'],
    },
    audit_detail: {
      data: 'Addresses and names in the audit log',
      fate: PAST,
      erase: `realm_id = {realm} AND number IN (
        SELECT number FROM audit_entry WHERE realm_id = {realm} AND actor_id = {id}
        UNION ALL SELECT number FROM audit_entry WHERE realm_id = {realm} AND subject_id = {id})`,
    },
    audit_chain: { other: ['anchor_digest', 'last_digest'] },
  },
  notExported: { audit_entry: NOT_EXPORTED, audit_detail: NOT_EXPORTED, audit_chain: NOT_EXPORTED },
  repositories: () => (connection) => ({ audit: new SqlAuditRepository(connection) }),
} satisfies StorageFeature;
