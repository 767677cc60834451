import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { AuthenticatorApp, Passkey, SecondFactorRepository, SecondFactors } from '@parley/domain/users';
import type { StorageFeature } from '../engine/feature.js';
import { LOG_IN } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlSecondFactorRepository implements SecondFactorRepository {
  private readonly app;
  private readonly passkeysOf;
  private readonly passkey;
  private readonly codeCount;
  private readonly anyApp;
  private readonly anyPasskey;
  private readonly storeApp;
  private readonly deleteApp;
  private readonly storePasskey;
  private readonly deletePasskey;
  private readonly storeCode;
  private readonly deleteCodes;
  private readonly deleteCode;

  constructor(connection: Statements) {
    this.app = connection.rows<AuthenticatorApp>(
      'SELECT secret, last_step AS "lastStep" FROM authenticator_app WHERE user_id = ? AND realm_id = ?',
    );
    this.passkeysOf = connection.rows<PasskeyRow>(
      'SELECT * FROM passkey WHERE user_id = ? AND realm_id = ? ORDER BY number',
    );
    this.passkey = connection.rows<PasskeyRow>('SELECT * FROM passkey WHERE realm_id = ? AND id = ?');
    this.codeCount = connection.values<number>('SELECT count(*) FROM recovery_code WHERE user_id = ? AND realm_id = ?');
    this.anyApp = connection.values<number>('SELECT 1 FROM authenticator_app WHERE realm_id = ? LIMIT 1');
    this.anyPasskey = connection.values<number>('SELECT 1 FROM passkey WHERE realm_id = ? LIMIT 1');
    this.storeApp = connection.command(
      `INSERT INTO authenticator_app (user_id, realm_id, secret, last_step) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = excluded.last_step`,
    );
    this.deleteApp = connection.command('DELETE FROM authenticator_app WHERE user_id = ? AND realm_id = ?');
    this.storePasskey = connection.command(
      `INSERT INTO passkey (realm_id, id, user_id, public_key, counter, transports, name, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, id) DO UPDATE SET user_id = excluded.user_id, public_key = excluded.public_key,
         counter = excluded.counter, transports = excluded.transports, name = excluded.name, created_at = excluded.created_at`,
    );
    this.deletePasskey = connection.command('DELETE FROM passkey WHERE id = ? AND user_id = ? AND realm_id = ?');
    this.storeCode = connection.command('INSERT INTO recovery_code (user_id, fingerprint, realm_id) VALUES (?, ?, ?)');
    this.deleteCodes = connection.command('DELETE FROM recovery_code WHERE user_id = ? AND realm_id = ?');
    this.deleteCode = connection.command(
      'DELETE FROM recovery_code WHERE user_id = ? AND fingerprint = ? AND realm_id = ?',
    );
  }

  async find(realmId: RealmId, userId: UserId): Promise<SecondFactors> {
    return {
      app: (await this.app.get(userId, realmId)) ?? null,
      passkeys: (await this.passkeysOf.all(userId, realmId)).map(toPasskey),
      recoveryCodes: await this.codeCount.one(userId, realmId),
    };
  }

  async findPasskey(realmId: RealmId, id: string): Promise<Passkey | null> {
    const row = await this.passkey.get(realmId, id);
    return row ? toPasskey(row) : null;
  }

  async areUsed(realmId: RealmId): Promise<boolean> {
    return (await this.anyApp.get(realmId)) === 1 || this.hasPasskeys(realmId);
  }

  async hasPasskeys(realmId: RealmId): Promise<boolean> {
    return (await this.anyPasskey.get(realmId)) === 1;
  }

  async putApp(realmId: RealmId, userId: UserId, app: AuthenticatorApp | null): Promise<void> {
    if (app) this.storeApp.defer(userId, realmId, app.secret, app.lastStep);
    else this.deleteApp.defer(userId, realmId);
  }

  async putPasskey(realmId: RealmId, passkey: Passkey): Promise<void> {
    const { id, userId, publicKey, counter, transports, name, createdAt } = passkey;
    this.storePasskey.defer(realmId, id, userId, publicKey, counter, JSON.stringify(transports), name, createdAt);
  }

  async removePasskey(realmId: RealmId, userId: UserId, id: string): Promise<void> {
    this.deletePasskey.defer(id, userId, realmId);
  }

  async putRecoveryCodes(realmId: RealmId, userId: UserId, fingerprints: readonly string[]): Promise<void> {
    this.deleteCodes.defer(userId, realmId);
    for (const fingerprint of fingerprints) this.storeCode.defer(userId, fingerprint, realmId);
  }

  async takeRecoveryCode(realmId: RealmId, userId: UserId, fingerprint: string): Promise<boolean> {
    return (await this.deleteCode.run(userId, fingerprint, realmId)).changes > 0;
  }
}

interface PasskeyRow {
  readonly id: string;
  readonly user_id: UserId;
  readonly public_key: string;
  readonly counter: number;
  readonly transports: string;
  readonly name: string;
  readonly created_at: UnixSeconds;
}

const toPasskey = (row: PasskeyRow): Passkey => ({
  id: row.id,
  userId: row.user_id,
  publicKey: row.public_key,
  counter: row.counter,
  transports: JSON.parse(row.transports) as readonly string[],
  name: row.name,
  createdAt: row.created_at,
});

const SECRET = 'They depend on the secret and the address of the original server.';

const TABLES = `
-- Second factors of log-ins by password.

CREATE TABLE authenticator_app (
  user_id {int} PRIMARY KEY REFERENCES {user} (id),
  realm_id {int} NOT NULL,
  -- Encrypted.
  secret {text} NOT NULL,
  -- Time step of the last code that was used.
  last_step {int} NOT NULL
) {strict};
CREATE INDEX authenticator_app_by_realm ON authenticator_app (realm_id);

CREATE TABLE passkey (
  -- Ascends in the order of creation.
  number {id},
  realm_id {int} NOT NULL,
  -- Base64url.
  id {text} NOT NULL,
  user_id {int} NOT NULL REFERENCES {user} (id),
  public_key {text} NOT NULL,
  counter {int} NOT NULL,
  -- JSON.
  transports {text} NOT NULL,
  name {text} NOT NULL,
  created_at {int} NOT NULL
) {strict};
CREATE UNIQUE INDEX passkey_by_id ON passkey (realm_id, id);
CREATE INDEX passkey_by_user ON passkey (user_id);

CREATE TABLE recovery_code (
  user_id {int} NOT NULL REFERENCES {user} (id),
  fingerprint {text} NOT NULL,
  realm_id {int} NOT NULL,
  PRIMARY KEY (user_id, fingerprint)
) {withoutRowId};
CREATE INDEX recovery_code_by_realm ON recovery_code (realm_id);
`;

export const SECOND_FACTOR_FEATURE = {
  schema: 'second-factors',
  steps: { 16: TABLES },
  realmTables: ['authenticator_app', 'passkey', 'recovery_code'],
  persons: {
    authenticator_app: { data: 'Authenticator apps', fate: LOG_IN, erase: 'user_id = {id}' },
    passkey: { data: 'Passkeys', fate: LOG_IN, erase: 'user_id = {id}' },
    recovery_code: { data: 'Recovery codes', fate: LOG_IN, erase: 'user_id = {id}' },
  },
  notExported: { authenticator_app: SECRET, passkey: SECRET, recovery_code: SECRET },
  repositories: () => (connection) => ({ secondFactors: new SqlSecondFactorRepository(connection) }),
} satisfies StorageFeature;
