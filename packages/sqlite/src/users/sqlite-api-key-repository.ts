import type { ApiKeyRecord, ApiKeyRepository } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';

/** The name of a fact about the server. */
export const SECRET_FINGERPRINT = 'secret fingerprint';

export class SqliteApiKeyRepository implements ApiKeyRepository {
  private readonly rowByFingerprint;
  private readonly row;
  private readonly allRows;
  private readonly upsert;
  private readonly fact;
  private readonly upsertFact;

  constructor(connection: Connection) {
    const columns = 'SELECT realm_id, user_id, generation FROM api_key';
    this.rowByFingerprint = connection.rows<ApiKeyRow>(`${columns} WHERE fingerprint = ?`);
    this.row = connection.rows<ApiKeyRow>(`${columns} WHERE user_id = ? AND realm_id = ?`);
    this.allRows = connection.rows<ApiKeyRow>(`${columns} ORDER BY user_id`);
    this.upsert = connection.command(
      `INSERT INTO api_key (user_id, realm_id, generation, fingerprint) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE
       SET generation = excluded.generation, fingerprint = excluded.fingerprint`,
    );
    this.fact = connection.values<string>('SELECT value FROM server_fact WHERE name = ?');
    this.upsertFact = connection.command(
      'INSERT INTO server_fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
  }

  async findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null> {
    const row = this.rowByFingerprint.get(fingerprint);
    return row ? toRecord(row) : null;
  }

  async find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null> {
    const row = this.row.get(userId, realmId);
    return row ? toRecord(row) : null;
  }

  async listAll(): Promise<readonly ApiKeyRecord[]> {
    return this.allRows.all().map(toRecord);
  }

  async secretFingerprint(): Promise<string | null> {
    return this.fact.get(SECRET_FINGERPRINT) ?? null;
  }

  async put(record: ApiKeyRecord, fingerprint: string): Promise<void> {
    this.upsert.run(record.userId, record.realmId, record.generation, fingerprint);
  }

  async setSecretFingerprint(fingerprint: string): Promise<void> {
    this.upsertFact.run(SECRET_FINGERPRINT, fingerprint);
  }
}

interface ApiKeyRow {
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly generation: number;
}

function toRecord(row: ApiKeyRow): ApiKeyRecord {
  return { realmId: row.realm_id, userId: row.user_id, generation: row.generation };
}
