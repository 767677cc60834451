import type { RealmId, SessionId, UserId } from '@parley/domain/kernel';
import type { WebPushRepository, WebPushSubscription } from '@parley/domain/push';
import type { StorageFeature } from '../engine/feature.js';
import { KEY } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlWebPushRepository implements WebPushRepository {
  private readonly rows;
  private readonly store;
  private readonly delete;

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.rows = connection.rows<WebPushRow>(
      `SELECT w.* FROM web_push_subscription w ${indexedBy('web_push_of_user')}
       WHERE w.user_id ${inSet} AND w.realm_id = ?
         AND (w.session_id IS NULL OR EXISTS (SELECT 1 FROM session s WHERE s.id = w.session_id))
       ORDER BY w.id`,
    );
    this.store = connection.command(
      `INSERT INTO web_push_subscription (realm_id, user_id, session_id, endpoint, public_key, auth_secret)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id, endpoint) DO UPDATE
       SET session_id = excluded.session_id, public_key = excluded.public_key, auth_secret = excluded.auth_secret`,
    );
    this.delete = connection.command(
      'DELETE FROM web_push_subscription WHERE user_id = ? AND endpoint = ? AND realm_id = ?',
    );
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly WebPushSubscription[]> {
    return (await this.rows.all(this.connection.dialect.set(userIds), realmId)).map(toSubscription);
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

const TABLES = `
-- Browsers that receive notifications.

CREATE TABLE web_push_subscription (
  -- Ascends in the order of subscribing.
  id {id},
  realm_id {int} NOT NULL,
  user_id {int} NOT NULL REFERENCES {user} (id),
  -- Session that ends the subscription; null for an API key.
  session_id {int},
  endpoint {text} NOT NULL,
  public_key {text} NOT NULL,
  auth_secret {text} NOT NULL
) {strict};
CREATE UNIQUE INDEX web_push_of_user ON web_push_subscription (user_id, endpoint);
CREATE INDEX web_push_by_realm ON web_push_subscription (realm_id);
`;

export const WEB_PUSH_FEATURE = {
  schema: 'web-push',
  steps: { 11: TABLES },
  realmTables: ['web_push_subscription'],
  persons: {
    web_push_subscription: { data: 'Browsers that receive notifications', fate: KEY, erase: 'user_id = {id}' },
  },
  notExported: { web_push_subscription: 'Browsers subscribe anew.' },
  repositories: () => (connection) => ({ webPush: new SqlWebPushRepository(connection) }),
} satisfies StorageFeature;
