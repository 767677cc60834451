import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Presence, PresenceRepository } from '@parley/domain/users';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlPresenceRepository implements PresenceRepository {
  private readonly rows;
  private readonly upsert;
  private readonly reserve;

  constructor(connection: Statements) {
    this.rows = connection.rows<PresenceRow>(
      'SELECT user_id, last_active, last_connected, update_id FROM presence WHERE realm_id = ? AND update_id > ? ORDER BY update_id',
    );
    this.upsert = connection.command(
      `INSERT INTO presence (user_id, realm_id, last_active, last_connected, update_id) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE
       SET last_active = excluded.last_active, last_connected = excluded.last_connected, update_id = excluded.update_id`,
    );
    this.reserve = connection.values<number>(
      `INSERT INTO presence_counter (realm_id, last_id) VALUES (?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET last_id = presence_counter.last_id + excluded.last_id RETURNING last_id`,
    );
  }

  async list(realmId: RealmId, after = 0): Promise<readonly Presence[]> {
    return (await this.rows.all(realmId, after)).map((row) => ({
      userId: row.user_id,
      lastActive: row.last_active,
      lastConnected: row.last_connected,
      updateId: row.update_id,
    }));
  }

  async put(realmId: RealmId, presences: readonly Presence[]): Promise<void> {
    for (const { userId, lastActive, lastConnected, updateId } of presences) {
      this.upsert.defer(userId, realmId, lastActive, lastConnected, updateId);
    }
  }

  async reserveIds(realmId: RealmId, count: number): Promise<number> {
    return (await this.reserve.one(realmId, count)) - count + 1;
  }
}

interface PresenceRow {
  readonly user_id: UserId;
  readonly last_active: UnixSeconds | null;
  readonly last_connected: UnixSeconds;
  readonly update_id: number;
}

const TABLES = `
-- Last activity of users. Written in batches, so a crash loses the last second.

CREATE TABLE presence (
  user_id {int} PRIMARY KEY,
  realm_id {int} NOT NULL,
  -- Null if the user was never active.
  last_active {int},
  last_connected {int} NOT NULL,
  update_id {int} NOT NULL
) {strict};
CREATE INDEX presence_by_update ON presence (realm_id, update_id);

CREATE TABLE presence_counter (
  realm_id {int} PRIMARY KEY,
  -- Last update id handed out in the realm.
  last_id {int} NOT NULL
) {strict};
`;

export const PRESENCE_FEATURE = {
  schema: 'presence',
  steps: { 1: TABLES },
  realmTables: ['presence', 'presence_counter'],
  // Realms without a counter may have got one in the lost time.
  counters: [
    `INSERT INTO presence_counter (realm_id, last_id) SELECT id, {skipped} FROM realm WHERE true
     ON CONFLICT (realm_id) DO UPDATE SET last_id = presence_counter.last_id + excluded.last_id`,
  ],
  persons: {
    presence: { data: 'Times of last activity', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
    presence_counter: {},
  },
  notExported: {
    presence_counter: 'Update ids start over.',
  },
  repositories: () => (connection) => ({ presence: new SqlPresenceRepository(connection) }),
} satisfies StorageFeature;
