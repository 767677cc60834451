import type { DeviceId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  type Device,
  type DeviceRepository,
  PUSH_TOKEN_KINDS,
  type PushStatus,
  type PushStatusRepository,
  type PushToken,
  type PushTokenKind,
  type PushTokenRepository,
  REGISTRATION_ERRORS,
  type RegistrationError,
} from '@parley/domain/push';
import type { StorageFeature } from '../engine/feature.js';
import { KEY } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlDeviceRepository implements DeviceRepository {
  private readonly row;
  private readonly rowsOfUser;
  private readonly owners;
  private readonly insert;
  private readonly store;
  private readonly delete;

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.row = connection.rows<DeviceRow>('SELECT * FROM device WHERE id = ? AND user_id = ? AND realm_id = ?');
    this.rowsOfUser = connection.rows<DeviceRow>('SELECT * FROM device WHERE user_id = ? AND realm_id = ? ORDER BY id');
    this.owners = connection.values<UserId>(
      `SELECT DISTINCT user_id FROM device ${indexedBy('device_of_user')}
       WHERE user_id ${inSet} AND realm_id = ? AND push_key IS NOT NULL AND token_id IS NOT NULL AND token_kind IS NOT NULL`,
    );
    this.insert = connection.rows<DeviceRow>('INSERT INTO device (realm_id, user_id) VALUES (?, ?) RETURNING *');
    this.store = connection.command(
      `UPDATE device SET push_key_id = ?, push_key = ?, token_kind = ?, token_id = ?, public_key = ?,
         registration = ?, pending_token_id = ?, pending_public_key = ?, pending_registration = ?,
         token_updated_at = ?, registration_error = ?
       WHERE id = ? AND realm_id = ?`,
    );
    this.delete = connection.command('DELETE FROM device WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, userId: UserId, id: DeviceId): Promise<Device | null> {
    const row = await this.row.get(id, userId, realmId);
    return row ? toDevice(row) : null;
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly Device[]> {
    return (await this.rowsOfUser.all(userId, realmId)).map(toDevice);
  }

  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.owners.all(this.connection.dialect.set(userIds), realmId);
  }

  async add(realmId: RealmId, userId: UserId): Promise<Device> {
    return toDevice(await this.insert.one(realmId, userId));
  }

  async update(device: Device): Promise<void> {
    const { id, realmId, key, tokenKind, tokenId, registration, pending, tokenUpdatedAt, error } = device;
    this.store.defer(
      key?.id ?? null,
      key?.key ?? null,
      tokenKind,
      tokenId,
      registration?.publicKey ?? null,
      registration?.encrypted ?? null,
      pending?.tokenId ?? null,
      pending?.publicKey ?? null,
      pending?.encrypted ?? null,
      tokenUpdatedAt,
      error,
      id,
      realmId,
    );
  }

  async remove({ id, realmId }: Pick<Device, 'id' | 'realmId'>): Promise<void> {
    this.delete.defer(id, realmId);
  }
}

interface DeviceRow {
  readonly id: DeviceId;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly push_key_id: number | null;
  readonly push_key: string | null;
  readonly token_kind: string | null;
  readonly token_id: string | null;
  readonly public_key: string | null;
  readonly registration: string | null;
  readonly pending_token_id: string | null;
  readonly pending_public_key: string | null;
  readonly pending_registration: string | null;
  readonly token_updated_at: UnixSeconds | null;
  readonly registration_error: string | null;
}

/** Treats unknown stored words as null, so that the app registers again. */
function toDevice(row: DeviceRow): Device {
  const { token_id, public_key, registration, pending_token_id, pending_public_key, pending_registration } = row;
  const isKept = token_id !== null && public_key !== null && registration !== null;
  const isPending = pending_token_id !== null && pending_public_key !== null && pending_registration !== null;
  return {
    id: row.id,
    realmId: row.realm_id,
    userId: row.user_id,
    key: row.push_key_id === null || row.push_key === null ? null : { id: row.push_key_id, key: row.push_key },
    tokenKind: PUSH_TOKEN_KINDS.includes(row.token_kind as PushTokenKind) ? (row.token_kind as PushTokenKind) : null,
    tokenId: row.token_id,
    registration: isKept ? { tokenId: token_id, publicKey: public_key, encrypted: registration } : null,
    pending: isPending
      ? { tokenId: pending_token_id, publicKey: pending_public_key, encrypted: pending_registration }
      : null,
    tokenUpdatedAt: row.token_updated_at,
    error: REGISTRATION_ERRORS.includes(row.registration_error as RegistrationError)
      ? (row.registration_error as RegistrationError)
      : null,
  };
}

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
  repositories: () => (connection) => ({
    devices: new SqlDeviceRepository(connection),
    pushTokens: new SqlPushTokenRepository(connection),
    pushStatus: new SqlPushStatusRepository(connection),
  }),
} satisfies StorageFeature;
