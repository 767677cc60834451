import type { RealmId, SessionId, UserId } from '@parley/domain/kernel';
import type { WebPushRepository, WebPushSubscription } from '@parley/domain/push';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresWebPushRepository implements WebPushRepository {
  private readonly rows;
  private readonly store;
  private readonly delete;

  constructor(connection: Connection) {
    this.rows = connection.rows<WebPushRow>(
      `SELECT w.* FROM web_push_subscription w
       WHERE w.user_id = ANY($1) AND w.realm_id = $2
         AND (w.session_id IS NULL OR EXISTS (SELECT 1 FROM session s WHERE s.id = w.session_id))
       ORDER BY w.id`,
    );
    this.store = connection.command(
      `INSERT INTO web_push_subscription (realm_id, user_id, session_id, endpoint, public_key, auth_secret)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (user_id, endpoint) DO UPDATE
       SET session_id = excluded.session_id, public_key = excluded.public_key, auth_secret = excluded.auth_secret`,
    );
    this.delete = connection.command(
      'DELETE FROM web_push_subscription WHERE user_id = $1 AND endpoint = $2 AND realm_id = $3',
    );
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly WebPushSubscription[]> {
    return (await this.rows.all(userIds, realmId)).map(toSubscription);
  }

  async put(subscription: Omit<WebPushSubscription, 'id'>): Promise<void> {
    const { realmId, userId, sessionId, endpoint, publicKey, authSecret } = subscription;
    this.store.defer(realmId, userId, sessionId, endpoint, publicKey, authSecret);
  }

  async remove(realmId: RealmId, userId: UserId, endpoint: string): Promise<boolean> {
    return (await this.delete.run(userId, endpoint, realmId)).changes > 0;
  }
}

interface WebPushRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly session_id: SessionId | null;
  readonly endpoint: string;
  readonly public_key: string;
  readonly auth_secret: string;
}

const toSubscription = (row: WebPushRow): WebPushSubscription => ({
  id: row.id,
  realmId: row.realm_id,
  userId: row.user_id,
  sessionId: row.session_id,
  endpoint: row.endpoint,
  publicKey: row.public_key,
  authSecret: row.auth_secret,
});

export const WEB_PUSH_FEATURE = {
  schema: 'web-push',
  realmTables: ['web_push_subscription'],
  notExported: { web_push_subscription: 'Browsers subscribe anew.' },
  repositories: () => (connection) => ({ webPush: new PostgresWebPushRepository(connection) }),
} satisfies PostgresFeature;
