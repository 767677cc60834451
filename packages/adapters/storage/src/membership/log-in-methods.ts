import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { LinkedAccount, LogInRepository } from '@parley/domain/log-in';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES, LOG_IN } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

interface LinkedAccountRow extends Omit<LinkedAccount, 'picture'> {
  readonly pictureSource: string | null;
  readonly pictureVersion: number | null;
}

const toLinkedAccount = ({ pictureSource, pictureVersion, ...account }: LinkedAccountRow): LinkedAccount => ({
  ...account,
  picture: pictureSource === null ? null : { source: pictureSource, version: pictureVersion! },
});

export class SqlLogInRepository implements LogInRepository {
  private readonly used;
  private readonly insertUse;
  private readonly deleteExpired;
  private readonly linked;
  private readonly ofMethod;
  private readonly ofUser;
  private readonly deleteLink;
  private readonly insertLink;

  constructor(connection: Statements) {
    this.used = connection.values<number>('SELECT 1 FROM log_in_flow WHERE fingerprint = ? AND realm_id = ?');
    // The other columns described log-ins in progress, which are no longer stored.
    this.insertUse = connection.command(
      `INSERT INTO log_in_flow (fingerprint, realm_id, method, purpose, expires_at) VALUES (?, ?, '', '', ?)
       ON CONFLICT DO NOTHING`,
    );
    this.deleteExpired = connection.command(
      `DELETE FROM log_in_flow WHERE fingerprint IN (SELECT fingerprint FROM log_in_flow WHERE expires_at <= ? LIMIT ? + 0)`,
    );
    this.linked = connection.values<UserId>(
      'SELECT user_id FROM linked_account WHERE realm_id = ? AND method = ? AND subject = ?',
    );
    this.ofMethod = connection.values<UserId>(
      'SELECT user_id FROM linked_account WHERE realm_id = ? AND method = ? ORDER BY user_id',
    );
    this.ofUser = connection.rows<LinkedAccountRow>(
      `SELECT method, subject, user_id AS "userId", linked_at AS "linkedAt", picture_source AS "pictureSource",
         picture_version AS "pictureVersion"
       FROM linked_account
       WHERE user_id = ? AND realm_id = ? ORDER BY method`,
    );
    this.deleteLink = connection.command(
      'DELETE FROM linked_account WHERE user_id = ? AND method = ? AND realm_id = ?',
    );
    this.insertLink = connection.command(
      `INSERT INTO linked_account (realm_id, method, subject, user_id, linked_at, picture_source, picture_version)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, method, subject) DO UPDATE SET user_id = excluded.user_id, linked_at = excluded.linked_at,
         picture_source = excluded.picture_source, picture_version = excluded.picture_version`,
    );
  }

  async isUsed(realmId: RealmId, fingerprint: string): Promise<boolean> {
    return (await this.used.get(fingerprint, realmId)) !== undefined;
  }

  async use(realmId: RealmId, fingerprint: string, expiresAt: UnixSeconds): Promise<boolean> {
    return (await this.insertUse.run(fingerprint, realmId, expiresAt)).changes > 0;
  }

  async removeExpiredUses(now: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteExpired.run(now, limit)).changes;
  }

  async findLinked(realmId: RealmId, method: string, subject: string): Promise<UserId | null> {
    return (await this.linked.get(realmId, method, subject)) ?? null;
  }

  async listUserIdsOf(realmId: RealmId, method: string): Promise<readonly UserId[]> {
    return await this.ofMethod.all(realmId, method);
  }

  async listLinked(realmId: RealmId, userId: UserId): Promise<readonly LinkedAccount[]> {
    return (await this.ofUser.all(userId, realmId)).map(toLinkedAccount);
  }

  async link(realmId: RealmId, { method, subject, userId, linkedAt, picture }: LinkedAccount): Promise<void> {
    this.deleteLink.defer(userId, method, realmId);
    this.insertLink.defer(
      realmId,
      method,
      subject,
      userId,
      linkedAt,
      picture?.source ?? null,
      picture?.version ?? null,
    );
  }

  async unlink(realmId: RealmId, userId: UserId, method: string): Promise<boolean> {
    return (await this.deleteLink.run(userId, method, realmId)).changes > 0;
  }
}

const TABLES = `
-- Log-ins in progress at other services, and the accounts there.

CREATE TABLE log_in_flow (
  fingerprint {text} PRIMARY KEY,
  realm_id {int} NOT NULL REFERENCES realm (id),
  method {text} NOT NULL,
  -- Fingerprint of the cookie of the browser that must complete it; null for any browser.
  browser {text},
  -- JSON.
  purpose {text} NOT NULL,
  user_id {int},
  expires_at {int} NOT NULL
) {withoutRowId};
CREATE INDEX log_in_flow_by_realm ON log_in_flow (realm_id);
CREATE INDEX log_in_flow_by_expiry ON log_in_flow (expires_at);

CREATE TABLE linked_account (
  realm_id {int} NOT NULL,
  method {text} NOT NULL,
  -- Id of the account at the service.
  subject {text} NOT NULL,
  user_id {int} NOT NULL REFERENCES {user} (id),
  linked_at {int} NOT NULL,
  PRIMARY KEY (realm_id, method, subject)
) {strict};
CREATE UNIQUE INDEX linked_account_by_user ON linked_account (realm_id, user_id, method);
`;

export const LOG_IN_METHOD_FEATURE = {
  schema: 'log-in-methods',
  steps: { 7: TABLES },
  realmTables: ['log_in_flow', 'linked_account'],
  persons: {
    log_in_flow: { data: 'Unfinished log-ins', fate: EXPIRES, erase: 'user_id = {id}' },
    linked_account: { data: 'Ids at log-in services', fate: LOG_IN, erase: 'realm_id = {realm} AND user_id = {id}' },
  },
  notExported: {
    log_in_flow: 'Log-ins in progress end with the original server.',
    linked_account: 'Services are registered for the original server.',
  },
  repositories: () => (connection) => ({ logIns: new SqlLogInRepository(connection) }),
} satisfies StorageFeature;
