import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import type { UnixSeconds } from '@parley/domain/kernel';
import { makePrivate, migrate, openDatabaseFile } from '@parley/sqlite';
import { DatabaseRefused, type Migration } from '@parley/storage';
import type { Database } from 'better-sqlite3';
import type { PushServerStore, RemoteServer, RemoteToken, TokenOwner } from './push-server.js';

/** Application id in the file header: the letters `Prlp`. */
const APPLICATION_ID = 0x50726c70;
/** Wait for a previous process that is shutting down. */
const LOCK_WAIT_MS = 5000;

/** Steps are never edited; later ones correct them. */
const MIGRATIONS: readonly Migration[] = [
  {
    name: 'push-server',
    sql: `
      CREATE TABLE server (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        key_hash TEXT NOT NULL,
        hostname TEXT NOT NULL,
        contact_email TEXT NOT NULL,
        -- Maintained by triggers.
        tokens INTEGER NOT NULL DEFAULT 0,
        token_bytes INTEGER NOT NULL DEFAULT 0
      ) STRICT;
      CREATE TABLE realm (
        uuid TEXT PRIMARY KEY,
        server_id INTEGER NOT NULL REFERENCES server (id) ON DELETE CASCADE
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX realm_of_server ON realm (server_id);
      CREATE TABLE token (
        server_id INTEGER NOT NULL REFERENCES server (id) ON DELETE CASCADE,
        -- User of an older app, or organization of a device.
        owner TEXT NOT NULL,
        token_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        token TEXT NOT NULL,
        ios_app_id TEXT,
        registered_at INTEGER NOT NULL,
        PRIMARY KEY (server_id, owner, token_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX device_by_age ON token (registered_at) WHERE owner LIKE 'realm %';
      CREATE TRIGGER token_added AFTER INSERT ON token BEGIN
        UPDATE server SET tokens = tokens + 1, token_bytes = token_bytes + length(new.token) WHERE id = new.server_id;
      END;
      CREATE TRIGGER token_removed AFTER DELETE ON token BEGIN
        UPDATE server SET tokens = tokens - 1, token_bytes = token_bytes - length(old.token) WHERE id = old.server_id;
      END;`,
  },
];

interface ServerRow {
  readonly id: number;
  readonly uuid: string;
  readonly key_hash: string;
  readonly hostname: string;
  readonly contact_email: string;
}

interface TokenRow {
  readonly token_id: string;
  readonly kind: RemoteToken['kind'];
  readonly token: string;
  readonly ios_app_id: string | null;
}

/** Database file of a push service. All statements find rows by index, so they are fast enough to run synchronously. */
export class SqlitePushServerStore implements PushServerStore {
  private readonly database: Database;

  /**
   * Copies a database, which a push service may have open, to a new file readable by this user only.
   * @throws DatabaseRefused for a file of another program; Error if the target exists
   */
  static backUp(path: string, target: string): void {
    const database = openDatabaseFile(path, { timeout: LOCK_WAIT_MS, readonly: true, fileMustExist: true });
    try {
      requireOwn(database, path);
      const file = openSync(target, 'wx', 0o600);
      try {
        database.prepare('VACUUM INTO ?').run(target);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } finally {
      database.close();
    }
  }

  /** Creates the file if it is missing. @throws DatabaseRefused for a file of another program */
  constructor(path: string) {
    if (!existsSync(path)) makePrivate(path);
    const database = openDatabaseFile(path, { timeout: LOCK_WAIT_MS });
    try {
      const isNew = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
      if (!isNew) requireOwn(database, path);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
      // Overwrites removed tokens.
      database.pragma('secure_delete = ON');
      migrate(database, MIGRATIONS);
    } catch (error) {
      database.close();
      if (error instanceof DatabaseRefused) throw error;
      throw new DatabaseRefused(`Cannot open database ${path}: ${(error as Error).message}`, { cause: error });
    }
    this.database = database;
  }

  close(): void {
    this.database.close();
  }

  async findServer(uuid: string): Promise<RemoteServer | null> {
    const row = this.database.prepare<[string], ServerRow>('SELECT * FROM server WHERE uuid = ?').get(uuid);
    if (!row) return null;
    const { id, key_hash: keyHash, hostname, contact_email: contactEmail } = row;
    return { id, uuid, keyHash, hostname, contactEmail };
  }

  async countServers(): Promise<number> {
    return this.count('SELECT count(*) FROM server');
  }

  async putServer({ uuid, keyHash, hostname, contactEmail }: Omit<RemoteServer, 'id'>): Promise<void> {
    const set = 'key_hash = excluded.key_hash, hostname = excluded.hostname, contact_email = excluded.contact_email';
    this.run(
      `INSERT INTO server (uuid, key_hash, hostname, contact_email) VALUES (?, ?, ?, ?)
       ON CONFLICT (uuid) DO UPDATE SET ${set}`,
      uuid,
      keyHash,
      hostname,
      contactEmail,
    );
  }

  async removeServer(serverId: number): Promise<void> {
    this.run('DELETE FROM server WHERE id = ?', serverId);
  }

  async findRealms(uuids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = this.database
      .prepare<[string], { uuid: string; server_id: number }>(
        'SELECT realm.* FROM json_each(?) AS wanted JOIN realm ON realm.uuid = wanted.value',
      )
      .all(JSON.stringify(uuids));
    return new Map(rows.map(({ uuid, server_id }) => [uuid, server_id]));
  }

  async countRealms(serverId: number): Promise<number> {
    return this.count('SELECT count(*) FROM realm WHERE server_id = ?', serverId);
  }

  async addRealms(serverId: number, uuids: readonly string[]): Promise<void> {
    this.run(
      'INSERT INTO realm (uuid, server_id) SELECT value, ? FROM json_each(?) WHERE true ON CONFLICT DO NOTHING',
      serverId,
      JSON.stringify(uuids),
    );
  }

  async putToken(serverId: number, owner: TokenOwner, token: RemoteToken, now: UnixSeconds): Promise<void> {
    // The id determines the token, so only the app and the time can differ.
    this.run(
      `INSERT INTO token (server_id, owner, token_id, kind, token, ios_app_id, registered_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET kind = excluded.kind, ios_app_id = excluded.ios_app_id, registered_at = excluded.registered_at`,
      serverId,
      owner,
      token.tokenId,
      token.kind,
      token.token,
      token.iosAppId,
      now,
    );
  }

  async findTokens(
    serverId: number,
    owner: TokenOwner,
    ids: readonly string[] | null,
  ): Promise<readonly RemoteToken[]> {
    const { condition, parameters } = tokensOf(serverId, owner, ids);
    const rows = this.database
      .prepare<unknown[], TokenRow>(`SELECT * FROM token WHERE ${condition}`)
      .all(...parameters);
    return rows.map(({ token_id: tokenId, kind, token, ios_app_id: iosAppId }) => ({ tokenId, kind, token, iosAppId }));
  }

  async removeTokens(serverId: number, owner: TokenOwner, ids: readonly string[] | null): Promise<void> {
    const { condition, parameters } = tokensOf(serverId, owner, ids);
    this.run(`DELETE FROM token WHERE ${condition}`, ...parameters);
  }

  async usageOf(serverId: number): Promise<{ readonly tokens: number; readonly bytes: number }> {
    const row = this.database
      .prepare<[number], { tokens: number; bytes: number }>(
        'SELECT tokens, token_bytes AS bytes FROM server WHERE id = ?',
      )
      .get(serverId);
    return row ?? { tokens: 0, bytes: 0 };
  }

  async removeDevicesBefore(time: UnixSeconds): Promise<void> {
    this.run("DELETE FROM token WHERE owner LIKE 'realm %' AND registered_at < ?", time);
    // The log has former rows until it is emptied.
    this.database.pragma('wal_checkpoint(TRUNCATE)');
  }

  private run(sql: string, ...parameters: readonly unknown[]): void {
    this.database.prepare(sql).run(...parameters);
  }

  private count(sql: string, ...parameters: readonly unknown[]): number {
    return this.database
      .prepare<unknown[], number>(sql)
      .pluck()
      .get(...parameters)!;
  }
}

function requireOwn(database: Database, path: string): void {
  if (database.pragma('application_id', { simple: true }) === APPLICATION_ID) return;
  throw new DatabaseRefused(`Cannot open database ${path}: it is not the database of a push service`);
}

/** Returns the owner's tokens with these ids; null for all. */
function tokensOf(serverId: number, owner: TokenOwner, ids: readonly string[] | null) {
  const condition = 'server_id = ? AND owner = ?';
  if (ids === null) return { condition, parameters: [serverId, owner] };
  return {
    condition: `${condition} AND token_id IN (SELECT value FROM json_each(?))`,
    parameters: [serverId, owner, JSON.stringify(ids)],
  };
}
