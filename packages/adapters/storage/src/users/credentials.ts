import type {
  ApiKeyRecord,
  ApiKeyRepository,
  KeyIssue,
  LoginNetwork,
  NewSession,
  Session,
  SessionRepository,
} from '@parley/domain/access';
import type { RealmId, Seed, SessionId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { KEY, LOG_IN } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

/** Key in the table of server facts. */
export const SECRET_FINGERPRINT = 'secret fingerprint';
/** Name of the fact that marks a copy for trying things. */
export const COPY_FACT = 'copy';

export class SqlApiKeyRepository implements ApiKeyRepository {
  private readonly rowByFingerprint;
  private readonly row;
  private readonly allRows;
  private readonly upsert;
  private readonly issue;
  private readonly updateIssue;
  private readonly fact;
  private readonly upsertFact;

  constructor(connection: Statements) {
    const columns = 'SELECT realm_id, user_id, generation, seed FROM api_key';
    this.rowByFingerprint = connection.rows<ApiKeyRow>(`${columns} WHERE fingerprint = ?`);
    this.row = connection.rows<ApiKeyRow>(`${columns} WHERE user_id = ? AND realm_id = ?`);
    this.allRows = connection.rows<ApiKeyRow>(`${columns} ORDER BY user_id`);
    this.upsert = connection.command(
      `INSERT INTO api_key (user_id, realm_id, generation, seed, fingerprint) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE
       SET generation = excluded.generation, seed = excluded.seed, fingerprint = excluded.fingerprint,
         issued_at = NULL, issued_ip = NULL, issued_to = NULL`,
    );
    this.issue = connection.rows<KeyIssue>(
      `SELECT issued_at AS at, issued_ip AS ip, issued_to AS "clientName" FROM api_key
       WHERE user_id = ? AND realm_id = ? AND issued_at IS NOT NULL`,
    );
    this.updateIssue = connection.command(
      'UPDATE api_key SET issued_at = ?, issued_ip = ?, issued_to = ? WHERE user_id = ? AND realm_id = ?',
    );
    this.fact = connection.values<string>('SELECT value FROM server_fact WHERE name = ?');
    this.upsertFact = connection.command(
      'INSERT INTO server_fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
  }

  async findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null> {
    const row = await this.rowByFingerprint.get(fingerprint);
    return row ? toRecord(row) : null;
  }

  async find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null> {
    const row = await this.row.get(userId, realmId);
    return row ? toRecord(row) : null;
  }

  async findIssue(realmId: RealmId, userId: UserId): Promise<KeyIssue | null> {
    return (await this.issue.get(userId, realmId)) ?? null;
  }

  async listAll(): Promise<readonly ApiKeyRecord[]> {
    return (await this.allRows.all()).map(toRecord);
  }

  async secretFingerprint(): Promise<string | null> {
    return (await this.fact.get(SECRET_FINGERPRINT)) ?? null;
  }

  async put(record: ApiKeyRecord, fingerprint: string): Promise<void> {
    this.upsert.defer(record.userId, record.realmId, record.generation, record.seed, fingerprint);
  }

  async putIssue(realmId: RealmId, userId: UserId, { at, ip, clientName }: KeyIssue): Promise<void> {
    this.updateIssue.defer(at, ip, clientName, userId, realmId);
  }

  async setSecretFingerprint(fingerprint: string): Promise<void> {
    this.upsertFact.defer(SECRET_FINGERPRINT, fingerprint);
  }
}

interface ApiKeyRow {
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly generation: number;
  readonly seed: Seed;
}

function toRecord(row: ApiKeyRow): ApiKeyRecord {
  return { realmId: row.realm_id, userId: row.user_id, generation: row.generation, seed: row.seed };
}

const COLUMNS = `id, realm_id AS "realmId", user_id AS "userId", user_agent AS "userAgent", ip, method,
  service_session AS "serviceSession", created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt"`;

export class SqlSessionRepository implements SessionRepository {
  private readonly byFingerprint;
  private readonly ofUser;
  private readonly insert;
  private readonly update;
  private readonly delete;
  private readonly deleteOfRealm;
  private readonly deleteExpired;
  private readonly networks;
  private readonly upsertNetwork;
  private readonly deleteNetworks;

  constructor(private readonly connection: Statements) {
    this.networks = connection.rows<LoginNetwork>(
      `SELECT network, last_used_at AS "lastUsedAt" FROM login_network WHERE user_id = ? AND realm_id = ?
       ORDER BY last_used_at DESC, network`,
    );
    this.upsertNetwork = connection.command(
      `INSERT INTO login_network (realm_id, user_id, network, last_used_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id, network) DO UPDATE SET last_used_at = excluded.last_used_at`,
    );
    this.deleteNetworks = connection.command(
      `DELETE FROM login_network WHERE user_id = ? AND realm_id = ? AND network NOT IN (
         SELECT network FROM login_network WHERE user_id = ? ORDER BY last_used_at DESC, network LIMIT ? + 0)`,
    );
    this.byFingerprint = connection.rows<Session>(`SELECT ${COLUMNS} FROM session WHERE fingerprint = ?`);
    this.ofUser = connection.rows<Session>(
      `SELECT ${COLUMNS} FROM session WHERE user_id = ? AND realm_id = ? ORDER BY last_used_at DESC, id DESC`,
    );
    this.insert = connection.values<SessionId>(
      `INSERT INTO session (realm_id, user_id, fingerprint, user_agent, ip, method, service_session, created_at,
         last_used_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.update = connection.command('UPDATE session SET last_used_at = ?, expires_at = ? WHERE id = ?');
    this.delete = connection.command(
      `DELETE FROM session WHERE id ${connection.dialect.inSet} AND user_id = ? AND realm_id = ?`,
    );
    const deleteSome = (condition: string) =>
      connection.command(`DELETE FROM session WHERE id IN (SELECT id FROM session WHERE ${condition} LIMIT ? + 0)`);
    this.deleteOfRealm = deleteSome('realm_id = ?');
    this.deleteExpired = deleteSome('expires_at <= ?');
  }

  async findByFingerprint(fingerprint: string): Promise<Session | null> {
    return (await this.byFingerprint.get(fingerprint)) ?? null;
  }

  async listOf(realmId: RealmId, userId: UserId): Promise<readonly Session[]> {
    return this.ofUser.all(userId, realmId);
  }

  async listNetworks(realmId: RealmId, userId: UserId): Promise<readonly LoginNetwork[]> {
    return this.networks.all(userId, realmId);
  }

  async putNetwork(
    realmId: RealmId,
    userId: UserId,
    { network, lastUsedAt }: LoginNetwork,
    keep: number,
  ): Promise<void> {
    this.upsertNetwork.defer(realmId, userId, network, lastUsedAt);
    this.deleteNetworks.defer(userId, realmId, userId, keep);
  }

  async add(session: NewSession, fingerprint: string): Promise<SessionId> {
    const { realmId, userId, userAgent, ip, method, serviceSession, createdAt, lastUsedAt, expiresAt } = session;
    const origin = [userAgent, ip, method, serviceSession] as const;
    return await this.insert.one(realmId, userId, fingerprint, ...origin, createdAt, lastUsedAt, expiresAt);
  }

  async renew(id: SessionId, { lastUsedAt, expiresAt }: Pick<Session, 'lastUsedAt' | 'expiresAt'>): Promise<void> {
    this.update.defer(lastUsedAt, expiresAt, id);
  }

  async remove(realmId: RealmId, userId: UserId, ids: readonly SessionId[]): Promise<number> {
    return (await this.delete.run(this.connection.dialect.set(ids), userId, realmId)).changes;
  }

  async removeOfRealm(realmId: RealmId, limit: number): Promise<number> {
    return (await this.deleteOfRealm.run(realmId, limit)).changes;
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteExpired.run(now, limit)).changes;
  }
}

const KEY_SEEDS = `
-- expand: API keys of lost rows after a restore do not open later accounts.
ALTER TABLE api_key ADD COLUMN seed {text};
`;

export const API_KEY_FEATURE = {
  schema: 'authentication',
  steps: { 65: KEY_SEEDS },
  realmTables: ['api_key', 'session', 'login_network'],
  persons: {
    server_fact: { other: ['name', 'value'] },
    api_key: { data: 'API keys', fate: KEY, erase: 'user_id = {id}' },
    session: { data: 'Browser sessions', fate: { ...KEY, ends: [...KEY.ends, 'password'] }, erase: 'user_id = {id}' },
    login_network: { data: 'Networks of earlier log-ins', fate: LOG_IN, erase: 'user_id = {id}' },
  },
  notExported: {
    api_key: 'Keys are secrets.',
    session: 'Sessions end with the original server.',
    login_network: 'Networks are hashed with the secret of the server.',
  },
  repositories: () => (connection) => ({
    apiKeys: new SqlApiKeyRepository(connection),
    sessions: new SqlSessionRepository(connection),
  }),
} satisfies StorageFeature;
