import { DomainError, type ProfileFieldId, type RealmId, type UserId } from '@parley/domain/kernel';
import {
  PROFILE_FIELD_KINDS,
  type ProfileField,
  type ProfileFieldData,
  type ProfileFieldKind,
  type ProfileRepository,
  type ProfileValue,
} from '@parley/domain/users';
import type { StorageFeature } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import { type Flag, objectColumn, toFlag } from '../engine/rows.js';
import type { Parameter, Statements } from '../engine/statements.js';

export class SqlProfileRepository implements ProfileRepository {
  private readonly fields;
  private readonly values;
  private readonly insert;
  private readonly moveLast;
  private readonly store;
  private readonly hasField;
  private readonly deleteField;
  private readonly upsertValue;
  private readonly deleteValue;
  private readonly holders;
  private readonly holdersOfSome;
  private readonly deleteValues;
  private readonly renewUser;
  private readonly renewUsers;

  constructor(
    private readonly connection: Statements,
    private readonly quarantine: Quarantine,
  ) {
    const { inSet } = connection.dialect;
    this.fields = connection.rows<FieldRow>('SELECT * FROM profile_field WHERE realm_id = ? ORDER BY place, id');
    this.values = connection.rows<ValueRow>(
      `SELECT user_id, field_id, value, rendered FROM profile_value
       WHERE user_id ${inSet} AND +realm_id = ? ORDER BY user_id, field_id`,
    );
    this.insert = connection.values<ProfileFieldId>(
      `INSERT INTO profile_field (realm_id, kind, place, name, hint, data, is_required, is_editable_by_user,
                                  is_for_matching, is_in_summary)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.moveLast = connection.command('UPDATE profile_field SET place = id WHERE id = ?');
    this.store = connection.command(
      `UPDATE profile_field
       SET place = ?, name = ?, hint = ?, data = ?, is_required = ?, is_editable_by_user = ?, is_for_matching = ?,
           is_in_summary = ?
       WHERE id = ? AND realm_id = ?
         AND NOT EXISTS (SELECT 1 FROM profile_field WHERE realm_id = ? AND name = ? AND id <> ?)`,
    );
    this.hasField = connection.values<number>('SELECT 1 FROM profile_field WHERE id = ? AND realm_id = ?');
    this.deleteField = connection.command('DELETE FROM profile_field WHERE id = ? AND realm_id = ?');
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

  async listFields(realmId: RealmId): Promise<readonly ProfileField[]> {
    return (await this.fields.all(realmId)).map(this.toField);
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

  async addField(field: Omit<ProfileField, 'id' | 'order'>): Promise<ProfileField> {
    const id = await this.insert.get(field.realmId, field.kind, ...settingsOf(field));
    if (id === undefined) throw nameTaken();
    this.moveLast.defer(id);
    return { ...field, id, order: id };
  }

  async updateField(field: ProfileField): Promise<void> {
    const { changes } = await this.store.run(
      field.order,
      ...settingsOf(field),
      field.id,
      field.realmId,
      field.realmId,
      field.name,
      field.id,
    );
    if (changes > 0) return;
    if (await this.hasField.get(field.id, field.realmId)) throw nameTaken();
    throw new Error(`Realm ${field.realmId} has no profile field ${field.id}`);
  }

  async removeField(realmId: RealmId, id: ProfileFieldId): Promise<void> {
    await this.deleteField.run(id, realmId);
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

  private readonly toField = (row: FieldRow): ProfileField => ({
    id: row.id,
    realmId: row.realm_id,
    kind: this.quarantine.word(row.kind, PROFILE_FIELD_KINDS, 'shortText', 'profile_field', row.id, 'kind'),
    order: row.place,
    name: row.name,
    hint: row.hint,
    data: fieldData(row.data, row.id, this.quarantine),
    isRequired: row.is_required === 1,
    isEditableByUser: row.is_editable_by_user === 1,
    isForMatching: row.is_for_matching === 1,
    isInSummary: row.is_in_summary === 1,
  });
}

const isText = (value: unknown): boolean => typeof value === 'string';
const fieldData = objectColumn<ProfileFieldData[string]>(
  'profile_field',
  'data',
  (value) => isText(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isText)),
);

const nameTaken = () => new DomainError('PROFILE_FIELD_NAME_TAKEN', 'A field with that label already exists.');

/** Column values in the order of `insert` and `store`. */
function settingsOf(field: Omit<ProfileField, 'id' | 'order'>): readonly Parameter[] {
  return [
    field.name,
    field.hint,
    JSON.stringify(field.data),
    toFlag(field.isRequired),
    toFlag(field.isEditableByUser),
    toFlag(field.isForMatching),
    toFlag(field.isInSummary),
  ];
}

interface FieldRow {
  readonly id: ProfileFieldId;
  readonly realm_id: RealmId;
  readonly kind: ProfileFieldKind;
  readonly place: number;
  readonly name: string;
  readonly hint: string;
  readonly data: string;
  readonly is_required: Flag;
  readonly is_editable_by_user: Flag;
  readonly is_for_matching: Flag;
  readonly is_in_summary: Flag;
}

interface ValueRow {
  readonly user_id: UserId;
  readonly field_id: ProfileFieldId;
  readonly value: string;
  readonly rendered: string | null;
}

export const PROFILE_FEATURE = {
  repositories:
    ({ quarantine }) =>
    (connection) => ({ profiles: new SqlProfileRepository(connection, quarantine) }),
} satisfies StorageFeature;
