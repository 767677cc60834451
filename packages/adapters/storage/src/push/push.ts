import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  DEVICE_ROWS,
  type Device,
  type DeviceRepository,
  PUSH_TOKEN_KINDS,
  type PushStatus,
  type PushStatusRepository,
  type PushToken,
  type PushTokenKind,
  type PushTokenRepository,
  REGISTRATION_ERRORS,
} from '@parley/domain/push';
import { type RowTable, SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { KEY } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

interface StoredDevice extends Pick<Device, 'tokenId' | 'tokenUpdatedAt'> {
  readonly pushKeyId: number | null;
  readonly pushKey: string | null;
  readonly tokenKind: string | null;
  readonly publicKey: string | null;
  readonly registration: string | null;
  readonly pendingTokenId: string | null;
  readonly pendingPublicKey: string | null;
  readonly pendingRegistration: string | null;
  readonly registrationError: string | null;
}

class SqlDevices extends SqlRows<Device, StoredDevice> implements DeviceRepository {
  private readonly owners = this.connection.values<UserId>(
    `SELECT DISTINCT user_id FROM device ${this.connection.dialect.indexedBy('device_of_user')}
     WHERE user_id ${this.connection.dialect.inSet} AND realm_id = ?
       AND push_key IS NOT NULL AND token_id IS NOT NULL AND token_kind IS NOT NULL`,
  );

  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.owners.all(this.connection.dialect.set(userIds), realmId);
  }
}

/** Unknown stored words become null, so that the app registers again. */
const DEVICE_TABLE: RowTable = new Table<Device, StoredDevice>(
  DEVICE_ROWS,
  {
    columns: {
      pushKeyId: 'int?',
      pushKey: 'text?',
      tokenKind: 'text?',
      tokenId: 'text?',
      publicKey: 'text?',
      registration: 'text?',
      pendingTokenId: 'text?',
      pendingPublicKey: 'text?',
      pendingRegistration: 'text?',
      tokenUpdatedAt: 'int?',
      registrationError: 'text?',
    },
    pack: ({ key, registration, pending, error, ...row }) => ({
      ...row,
      pushKeyId: key?.id ?? null,
      pushKey: key?.key ?? null,
      publicKey: registration?.publicKey ?? null,
      registration: registration?.encrypted ?? null,
      pendingTokenId: pending?.tokenId ?? null,
      pendingPublicKey: pending?.publicKey ?? null,
      pendingRegistration: pending?.encrypted ?? null,
      registrationError: error,
    }),
    unpack: ({ pushKeyId, pushKey, publicKey, pendingTokenId, pendingPublicKey, pendingRegistration, ...stored }) => {
      const { registration, registrationError, tokenKind, ...row } = stored;
      return {
        ...row,
        key: pushKeyId === null || pushKey === null ? null : { id: pushKeyId, key: pushKey },
        tokenKind: PUSH_TOKEN_KINDS.find((kind) => kind === tokenKind) ?? null,
        registration: registrationOf(row.tokenId, publicKey, registration),
        pending: registrationOf(pendingTokenId, pendingPublicKey, pendingRegistration),
        error: REGISTRATION_ERRORS.find((error) => error === registrationError) ?? null,
      };
    },
  },
  SqlDevices,
);

const registrationOf = (tokenId: string | null, publicKey: string | null, encrypted: string | null) =>
  tokenId === null || publicKey === null || encrypted === null ? null : { tokenId, publicKey, encrypted };

export class SqlPushTokenRepository implements PushTokenRepository {
  private readonly rows;
  private readonly owners;
  private readonly insert;
  private readonly delete;
  private readonly deleteAll;

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.rows = connection.rows<PushTokenRow>(
      `SELECT kind, token, ios_app_id FROM push_token ${indexedBy('push_token_of_user')}
       WHERE user_id = ? AND realm_id = ? ORDER BY id`,
    );
    this.owners = connection.values<UserId>(
      `SELECT DISTINCT user_id FROM push_token ${indexedBy('push_token_of_user')} WHERE user_id ${inSet} AND realm_id = ?`,
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
    return (await this.rows.all(userId, realmId)).map(({ kind, token, ios_app_id }) => ({
      kind,
      token,
      iosAppId: ios_app_id,
    }));
  }

  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.owners.all(this.connection.dialect.set(userIds), realmId);
  }

  async add(realmId: RealmId, userId: UserId, { kind, token, iosAppId }: PushToken): Promise<void> {
    this.insert.defer(realmId, userId, kind, token, iosAppId);
  }

  async remove(realmId: RealmId, userId: UserId, { kind, token }: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    this.delete.defer(userId, kind, token, realmId);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    this.deleteAll.defer(userId, realmId);
  }
}

export class SqlPushStatusRepository implements PushStatusRepository {
  private readonly row;
  private readonly store;

  constructor(connection: Statements) {
    this.row = connection.tuples<[number, UnixSeconds | null]>(
      'SELECT is_enabled, ends_at FROM push_status WHERE realm_id = ?',
    );
    this.store = connection.command(
      `INSERT INTO push_status (realm_id, is_enabled, ends_at) VALUES (?, ?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET is_enabled = excluded.is_enabled, ends_at = excluded.ends_at`,
    );
  }

  async find(realmId: RealmId): Promise<PushStatus | null> {
    const row = await this.row.get(realmId);
    return row ? { isEnabled: row[0] === 1, endsAt: row[1] } : null;
  }

  async put(realmId: RealmId, { isEnabled, endsAt }: PushStatus): Promise<void> {
    this.store.defer(realmId, isEnabled ? 1 : 0, endsAt);
  }
}

interface PushTokenRow {
  readonly kind: PushTokenKind;
  readonly token: string;
  readonly ios_app_id: string | null;
}

export const PUSH_FEATURE = {
  schema: 'push',
  realmTables: ['device', 'push_token', 'push_status'],
  persons: {
    device: { data: 'Devices', fate: KEY, erase: 'user_id = {id}' },
    push_token: { data: 'Phones that receive notifications', fate: KEY, erase: 'user_id = {id}' },
    push_status: {},
  },
  notExported: {
    device: 'Devices register anew.',
    push_token: 'Devices register anew.',
    push_status: 'Another server queries its own push service.',
  },
  rows: { devices: DEVICE_TABLE },
  repositories: () => (connection) => ({
    pushTokens: new SqlPushTokenRepository(connection),
    pushStatus: new SqlPushStatusRepository(connection),
  }),
} satisfies StorageFeature;
