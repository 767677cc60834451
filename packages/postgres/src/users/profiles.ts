import { DomainError, type ProfileFieldId, type RealmId, type UserId } from '@parley/domain/kernel';
import {
  PROFILE_FIELD_KINDS,
  type ProfileField,
  type ProfileFieldData,
  type ProfileFieldKind,
  type ProfileRepository,
  type ProfileValue,
} from '@parley/domain/users';
import { type Flag, objectColumn, type Parameter, type Quarantine, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresProfileRepository implements ProfileRepository {
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
    private readonly connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.fields = connection.rows<FieldRow>('SELECT * FROM profile_field WHERE realm_id = $1 ORDER BY place, id');
    this.values = connection.rows<ValueRow>(
      `SELECT user_id, field_id, value, rendered FROM profile_value
       WHERE user_id = ANY($1) AND realm_id = $2 ORDER BY user_id, field_id`,
    );
    this.insert = connection.values<ProfileFieldId>(
      `INSERT INTO profile_field (realm_id, kind, place, name, hint, data, is_required, is_editable_by_user,
                                  is_for_matching, is_in_summary)
       VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.moveLast = connection.command('UPDATE profile_field SET place = id WHERE id = $1');
    this.store = connection.command(
      `UPDATE profile_field
       SET place = $1, name = $2, hint = $3, data = $4, is_required = $5, is_editable_by_user = $6, is_for_matching = $7,
           is_in_summary = $8
       WHERE id = $9 AND realm_id = $10
         AND NOT EXISTS (SELECT 1 FROM profile_field WHERE realm_id = $10 AND name = $2 AND id <> $9)`,
    );
    this.hasField = connection.values<number>('SELECT 1 FROM profile_field WHERE id = $1 AND realm_id = $2');
    this.deleteField = connection.command('DELETE FROM profile_field WHERE id = $1 AND realm_id = $2');
    this.upsertValue = connection.command(
      `INSERT INTO profile_value (user_id, field_id, realm_id, value, rendered) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id, field_id) DO UPDATE SET value = excluded.value, rendered = excluded.rendered`,
    );
    this.deleteValue = connection.command(
      'DELETE FROM profile_value WHERE user_id = $1 AND field_id = $2 AND realm_id = $3',
    );
    this.holders = connection.values<UserId>(
      `SELECT user_id FROM profile_value WHERE field_id = $1 AND realm_id = $2 LIMIT $3`,
    );
    this.holdersOfSome = connection.values<UserId>(
      `SELECT user_id FROM profile_value
       WHERE field_id = $1 AND value = ANY($2) AND realm_id = $3 LIMIT $4`,
    );
    this.deleteValues = connection.command('DELETE FROM profile_value WHERE field_id = $1 AND user_id = ANY($2)');
    this.renewUser = connection.command('UPDATE "user" SET version = version + 1 WHERE id = $1 AND realm_id = $2');
    this.renewUsers = connection.command(
      'UPDATE "user" SET version = version + 1 WHERE id = ANY($1) AND realm_id = $2',
    );
  }

  async listFields(realmId: RealmId): Promise<readonly ProfileField[]> {
    return (await this.fields.all(realmId)).map(this.toField);
  }

  async listValues(
    realmId: RealmId,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, readonly ProfileValue[]>> {
    const values = new Map<UserId, ProfileValue[]>();
    for (const { user_id, field_id, value, rendered } of await this.values.all([...userIds], realmId)) {
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
    const { changes } = await this.store.run(field.order, ...settingsOf(field), field.id, field.realmId);
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
        : await this.holdersOfSome.all(fieldId, values, realmId, limit);
    if (userIds.length === 0) return 0;
    this.connection.disableCaching();
    this.deleteValues.defer(fieldId, userIds);
    this.renewUsers.defer(userIds, realmId);
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
    (connection) => ({ profiles: new PostgresProfileRepository(connection, quarantine) }),
} satisfies PostgresFeature;
