import {
  type DataFilter,
  type DataKey,
  type DataKeyDeclaration,
  type DataKeyId,
  type DataKeyRepository,
  FILTERED_KINDS,
  type FilteredKind,
  lastOf,
  type RealmId,
} from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { OF_REALM } from '../engine/personal-data.js';
import type { Quarantine } from '../engine/quarantine.js';
import type { Statements } from '../engine/statements.js';
import { DataValueIndex } from './data-values.js';
import { HostDataRows } from './host-data.js';

type DataRow = readonly [
  id: number,
  realmId: RealmId,
  messageId: number | null,
  channelId: number | null,
  userId: number | null,
  data: string,
];

export class SqlDataKeyRepository implements DataKeyRepository {
  private readonly values: DataValueIndex;
  private readonly data: HostDataRows;
  private readonly objects;
  private readonly insert;
  private readonly setRemoved;
  private readonly removed;
  private readonly removeValues;
  private readonly removeKey;
  private readonly dataAfter;
  private readonly setIndexed;

  constructor(connection: Statements, quarantine: Quarantine) {
    this.values = new DataValueIndex(connection);
    this.data = new HostDataRows(connection, quarantine);
    this.objects = connection.values<number>(
      `SELECT object_id FROM data_value
       WHERE key_id = ? AND value = ? AND object_id > ? AND realm_id = ? ORDER BY object_id LIMIT ? + 0`,
    );
    this.insert = connection.command(
      'INSERT INTO data_key (realm_id, kind, name, type, indexed_up_to, is_removed) VALUES (?, ?, ?, ?, 0, 0)',
    );
    this.setRemoved = connection.command('UPDATE data_key SET is_removed = 1 WHERE id = ? AND realm_id = ?');
    this.removed = connection.values<DataKeyId>(
      'SELECT id FROM data_key WHERE realm_id = ? AND is_removed = 1 ORDER BY id LIMIT 1',
    );
    this.removeValues = connection.command(
      `DELETE FROM data_value WHERE (key_id, value, object_id) IN (
         SELECT key_id, value, object_id FROM data_value WHERE key_id = ? LIMIT ? + 0)`,
    );
    this.removeKey = connection.command('DELETE FROM data_key WHERE id = ? AND realm_id = ?');
    this.dataAfter = connection.tuples<DataRow>(
      `SELECT id, realm_id, message_id, channel_id, user_id, data FROM host_data
       WHERE id > ? ORDER BY id LIMIT ? + 0`,
    );
    this.setIndexed = connection.command(
      'UPDATE data_key SET indexed_up_to = ? WHERE realm_id = ? AND indexed_up_to IS NOT NULL AND is_removed = 0',
    );
  }

  async list(realmId: RealmId): Promise<readonly DataKey[]> {
    return (await this.values.keysOf(realmId)).map(([id, kind, name, type, indexedUpTo]) => ({
      id,
      kind,
      name,
      type,
      isIndexed: indexedUpTo === null,
    }));
  }

  async listObjects(realmId: RealmId, { key, value }: DataFilter, after: number, limit: number) {
    return this.objects.all(key.id, value, after, realmId, limit);
  }

  async add(realmId: RealmId, { kind, name, type }: DataKeyDeclaration): Promise<void> {
    this.insert.defer(realmId, kind, name, type);
  }

  async remove(realmId: RealmId, id: DataKeyId): Promise<void> {
    this.setRemoved.defer(id, realmId);
  }

  async removeSome(realmId: RealmId, limit: number): Promise<boolean> {
    const id = await this.removed.get(realmId);
    if (id === undefined) return false;
    const { changes } = await this.removeValues.run(id, limit);
    if (changes < limit) this.removeKey.defer(id, realmId);
    return true;
  }

  async indexSome(realmId: RealmId, limit: number): Promise<boolean> {
    const pending = (await this.values.keysOf(realmId)).filter(([, , , , indexedUpTo]) => indexedUpTo !== null);
    if (pending.length === 0) return false;
    const start = Math.min(...pending.map(([, , , , indexedUpTo]) => indexedUpTo!));
    const rows = await this.dataAfter.all(start, limit);
    for (const [id, realm, messageId, channelId, userId, json] of rows) {
      if (realm !== realmId) continue;
      const owners = { message: messageId, channel: channelId, user: userId };
      const kind = FILTERED_KINDS.find((each) => owners[each] !== null);
      const keys = pending.filter(([, of]) => of === kind);
      if (kind && keys.length > 0) this.values.add(realmId, keys, owners[kind]!, this.data.parse(id, json));
    }
    this.setIndexed.defer(rows.length < limit ? null : lastOf(rows)[0], realmId);
    return rows.length === limit;
  }

  async index(realmId: RealmId, kind: FilteredKind, ids: readonly number[]): Promise<void> {
    const keys = (await this.values.keysOf(realmId)).filter(([, of]) => of === kind);
    if (keys.length === 0) return;
    for (const [id, { data }] of await this.data.list(realmId, kind, ids)) this.values.add(realmId, keys, id, data);
  }
}

const TABLES = `
-- expand: keys by which objects are filtered, and the index of their values.

-- Names and types never change. Values of a removed key are deleted before its row.
CREATE TABLE data_key (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  -- 'message', 'channel' or 'user'.
  kind {text} NOT NULL,
  name {text} NOT NULL,
  -- 'string', 'number' or 'boolean'.
  type {text} NOT NULL,
  -- Id of host_data up to which earlier data is indexed; null for all.
  indexed_up_to {int},
  is_removed {flag} NOT NULL
) {strict};
CREATE INDEX data_key_of_realm ON data_key (realm_id, is_removed);

CREATE TABLE data_value (
  key_id {int} NOT NULL,
  value {text} NOT NULL,
  -- Id of the message, channel or user.
  object_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  data_id {int} NOT NULL REFERENCES host_data (id) ON DELETE CASCADE,
  PRIMARY KEY (key_id, value, object_id)
) {withoutRowId};
CREATE INDEX data_value_by_data ON data_value (data_id);
`;

export const DATA_KEY_FEATURE = {
  schema: 'data-keys',
  steps: { 52: TABLES },
  realmTables: ['data_value', 'data_key'],
  notExported: { data_value: 'The import indexes the data.' },
  persons: {
    data_key: {
      data: 'Keys of your application’s data',
      fate: OF_REALM,
      keep: { 'Names that your application declared.': ['name'] },
      other: ['kind', 'type'],
    },
    data_value: {
      data: 'Index of your application’s data',
      fate: OF_REALM,
      keep: { 'Deleted with the data.': ['value'] },
    },
  },
  repositories:
    ({ quarantine }) =>
    (connection) => ({ dataKeys: new SqlDataKeyRepository(connection, quarantine) }),
} satisfies StorageFeature;
