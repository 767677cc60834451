import type { RealmId, UserId } from '@parley/domain/kernel';
import type { PushToken, PushTokenKind, PushTokenRepository } from '@parley/domain/push';
import type { Connection } from '../engine/connection.js';

export class SqlitePushTokenRepository implements PushTokenRepository {
  private readonly rows;
  private readonly insert;
  private readonly delete;
  private readonly deleteAll;

  constructor(connection: Connection) {
    this.rows = connection.rows<PushTokenRow>(
      'SELECT kind, token, ios_app_id FROM push_token WHERE user_id = ? AND realm_id = ? ORDER BY +id',
    );
    this.insert = connection.command(
      `INSERT INTO push_token (realm_id, user_id, kind, token, ios_app_id) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id, kind, token) DO NOTHING`,
    );
    this.delete = connection.command(
      'DELETE FROM push_token WHERE user_id = ? AND kind = ? AND token = ? AND realm_id = ?',
    );
    this.deleteAll = connection.command('DELETE FROM push_token WHERE user_id = ? AND realm_id = ?');
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly PushToken[]> {
    return this.rows.all(userId, realmId).map(({ kind, token, ios_app_id }) => ({ kind, token, iosAppId: ios_app_id }));
  }

  async add(realmId: RealmId, userId: UserId, { kind, token, iosAppId }: PushToken): Promise<void> {
    this.insert.run(realmId, userId, kind, token, iosAppId);
  }

  async remove(realmId: RealmId, userId: UserId, { kind, token }: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    this.delete.run(userId, kind, token, realmId);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    this.deleteAll.run(userId, realmId);
  }
}

interface PushTokenRow {
  readonly kind: PushTokenKind;
  readonly token: string;
  readonly ios_app_id: string | null;
}
