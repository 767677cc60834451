import type { ProfileFieldId, RealmId, UserId } from '@parley/domain/kernel';
import {
  PROFILE_FIELD_KINDS,
  PROFILE_FIELD_ROWS,
  type ProfileField,
  type ProfileFieldData,
  type ProfileRepository,
  type ProfileValue,
} from '@parley/domain/users';
import { type RowTable, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import { objectColumn } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

interface StoredField extends Omit<ProfileField, 'id' | 'realmId' | 'data'> {
  /** JSON. */
  readonly data: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const fieldData = objectColumn<ProfileFieldData[string]>(
  'profile_field',
  'data',
  (value) => isText(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isText)),
);

const PROFILE_FIELD_TABLE: RowTable = new Table<ProfileField, StoredField>(PROFILE_FIELD_ROWS, {
  columns: {
    kind: 'text',
    order: ['int', { name: 'place' }],
    name: 'text',
    hint: 'text',
    data: 'text',
    isRequired: 'flag',
    isEditableByUser: 'flag',
    isForMatching: 'flag',
    isInSummary: 'flag',
  },
  indices: [
    'UNIQUE INDEX profile_field_by_name ON profile_field (realm_id, name)',
    'INDEX profile_field_by_place ON profile_field (realm_id, place, id)',
  ],
  pack: (field) => ({ ...field, data: JSON.stringify(field.data) }),
  unpack: (row, quarantine) => ({
    ...row,
    kind: quarantine.word(row.kind, PROFILE_FIELD_KINDS, 'shortText', 'profile_field', row.id, 'kind'),
    data: fieldData(row.data, row.id, quarantine),
  }),
});

export class SqlProfileRepository implements ProfileRepository {
  private readonly values;
  private readonly upsertValue;
  private readonly deleteValue;
  private readonly holders;
  private readonly holdersOfSome;
  private readonly deleteValues;
  private readonly renewUser;
  private readonly renewUsers;

  constructor(private readonly connection: Statements) {
    const { inSet } = connection.dialect;
    this.values = connection.rows<ValueRow>(
      `SELECT user_id, field_id, value, rendered FROM profile_value
       WHERE user_id ${inSet} AND +realm_id = ? ORDER BY user_id, field_id`,
    );
    this.upsertValue = connection.command(
      `INSERT INTO profile_value (user_id, field_id, realm_id, value, rendered) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id, field_id) DO UPDATE SET value = excluded.value, rendered = excluded.rendered`,
    );
    this.deleteValue = connection.command(
      'DELETE FROM profile_value WHERE user_id = ? AND field_id = ? AND +realm_id = ?',
    );
    this.holders = connection.values<UserId>(
      `SELECT user_id FROM profile_value WHERE field_id = ? AND +realm_id = ? LIMIT ? + 0`,
    );
    this.holdersOfSome = connection.values<UserId>(
      `SELECT user_id FROM profile_value
       WHERE field_id = ? AND value ${inSet} AND +realm_id = ? LIMIT ? + 0`,
    );
    this.deleteValues = connection.command(`DELETE FROM profile_value WHERE field_id = ? AND user_id ${inSet}`);
    this.renewUser = connection.command('UPDATE "user" SET version = version + 1 WHERE id = ? AND realm_id = ?');
    this.renewUsers = connection.command(`UPDATE "user" SET version = version + 1 WHERE id ${inSet} AND +realm_id = ?`);
  }

  async listValues(
    realmId: RealmId,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, readonly ProfileValue[]>> {
    const values = new Map<UserId, ProfileValue[]>();
    for (const { user_id, field_id, value, rendered } of await this.values.all(
      this.connection.dialect.set(userIds),
      realmId,
    )) {
      const existing = values.get(user_id);
      const row = { fieldId: field_id, value, rendered };
      if (existing) existing.push(row);
      else values.set(user_id, [row]);
    }
    return values;
  }

  async putValue(realmId: RealmId, userId: UserId, { fieldId, value, rendered }: ProfileValue): Promise<void> {
    this.connection.disableCaching();
    this.upsertValue.defer(userId, fieldId, realmId, value, rendered);
    this.renewUser.defer(userId, realmId);
  }

  async removeValue(realmId: RealmId, userId: UserId, fieldId: ProfileFieldId): Promise<boolean> {
    const { changes } = await this.deleteValue.run(userId, fieldId, realmId);
    if (changes === 0) return false;
    this.connection.disableCaching();
    this.renewUser.defer(userId, realmId);
    return true;
  }

  async removeValuesOf(
    realmId: RealmId,
    fieldId: ProfileFieldId,
    values: readonly string[] | null,
    limit: number,
  ): Promise<number> {
    const userIds =
      values === null
        ? await this.holders.all(fieldId, realmId, limit)
        : await this.holdersOfSome.all(fieldId, this.connection.dialect.set(values), realmId, limit);
    if (userIds.length === 0) return 0;
    this.connection.disableCaching();
    const users = this.connection.dialect.set(userIds);
    this.deleteValues.defer(fieldId, users);
    this.renewUsers.defer(users, realmId);
    return userIds.length;
  }
}

interface ValueRow {
  readonly user_id: UserId;
  readonly field_id: ProfileFieldId;
  readonly value: string;
  readonly rendered: string | null;
}

const TABLES = `
${PROFILE_FIELD_TABLE.sql}

CREATE TABLE profile_value (
  user_id {int} NOT NULL REFERENCES {user} (id),
  field_id {int} NOT NULL REFERENCES profile_field (id),
  realm_id {int} NOT NULL,
  value {text} NOT NULL,
  -- HTML; null if the kind of field is shown as plain text.
  rendered {text},
  PRIMARY KEY (user_id, field_id)
) {withoutRowId};
CREATE INDEX profile_value_by_field ON profile_value (field_id, value);
`;

export const PROFILE_FEATURE = {
  schema: 'profiles',
  steps: { 1: TABLES },
  realmTables: ['profile_value', 'profile_field'],
  persons: {
    profile_value: { data: 'Profile field values', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
    profile_field: { other: ['kind', 'name', 'hint', 'data'] },
  },
  rows: { profileFields: PROFILE_FIELD_TABLE },
  repositories: () => (connection) => ({ profiles: new SqlProfileRepository(connection) }),
} satisfies StorageFeature;
