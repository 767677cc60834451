import {
  type DataKeyId,
  type DataKeyType,
  type DataOwnerKind,
  FILTERED_KINDS,
  type FilteredKind,
  type HostData,
  indexedValue,
  type RealmId,
  recordOf,
} from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';
import { OWNERS } from './data-owners.js';

export type KeyRow = readonly [
  id: DataKeyId,
  kind: FilteredKind,
  name: string,
  type: DataKeyType,
  indexedUpTo: number | null,
];

const isFiltered = (kind: DataOwnerKind): kind is FilteredKind => kind !== 'realm';

/** Index of the values of declared keys, kept current by changes of data. */
export class DataValueIndex {
  private readonly keys;
  private readonly inserts;
  private readonly removals;

  constructor(connection: Statements) {
    this.keys = connection.tuples<KeyRow>(
      `SELECT id, kind, name, type, indexed_up_to FROM data_key WHERE realm_id = ? AND is_removed = 0 ORDER BY id`,
    );
    this.inserts = recordOf(FILTERED_KINDS, (kind) => {
      const [column, isOfKind] = OWNERS[kind];
      return connection.command(
        `INSERT INTO data_value (realm_id, key_id, value, object_id, data_id)
         SELECT realm_id, CAST(? AS bigint), CAST(? AS text), ${column}, id
         FROM host_data WHERE ${column} = ? AND ${isOfKind} AND realm_id = ?
         ON CONFLICT DO NOTHING`,
      );
    });
    this.removals = recordOf(FILTERED_KINDS, (kind) => {
      const [column, isOfKind] = OWNERS[kind];
      return connection.command(
        `DELETE FROM data_value WHERE data_id IN (
           SELECT id FROM host_data WHERE ${column} = ? AND ${isOfKind} AND realm_id = ?)`,
      );
    });
  }

  async keysOf(realmId: RealmId): Promise<readonly KeyRow[]> {
    return this.keys.all(realmId);
  }

  /** Replaces the values of an object after its data was stored. */
  async put(realmId: RealmId, kind: DataOwnerKind, id: number, { data, version }: HostData): Promise<void> {
    if (!isFiltered(kind)) return;
    const keys = (await this.keysOf(realmId)).filter(([, of]) => of === kind);
    if (keys.length === 0) return;
    if (version > 1) this.removals[kind].defer(id, realmId);
    this.add(realmId, keys, id, data);
  }

  /** Adds the missing values of an object of the keys' kind. */
  add(realmId: RealmId, keys: readonly KeyRow[], id: number, data: HostData['data']): void {
    for (const [keyId, kind, name, type] of keys) {
      const value = indexedValue(data, { name, type });
      if (value !== null) this.inserts[kind].defer(keyId, value, id, realmId);
    }
  }
}
