import type { ProfileFieldId, RealmId, UserId } from '../kernel/ids.js';
import type { ProfileField } from './profile-field.js';
import type { ProfileValue } from './profile-value.js';

export interface ProfileReads {
  /** By order, then id. */
  listFields(realmId: RealmId): Promise<readonly ProfileField[]>;
  /** By ascending field; users without any are absent. One statement, whatever the number of users. */
  listValues(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly ProfileValue[]>>;
}

/** Every implementation passes profile-repository.contract.ts. Changing a value renews the user's version. */
export interface ProfileRepository extends ProfileReads {
  /** Its `order` is its id. @throws DomainError PROFILE_FIELD_NAME_TAKEN */
  addField(field: Omit<ProfileField, 'id' | 'order'>): Promise<ProfileField>;
  /** @throws DomainError PROFILE_FIELD_NAME_TAKEN */
  updateField(field: ProfileField): Promise<void>;
  /** Without its values, which are removed first. */
  removeField(realmId: RealmId, id: ProfileFieldId): Promise<void>;
  /** Adds or replaces. */
  putValue(realmId: RealmId, userId: UserId, value: ProfileValue): Promise<void>;
  /** Answers whether there was one. */
  removeValue(realmId: RealmId, userId: UserId, fieldId: ProfileFieldId): Promise<boolean>;
  /** Of all users, those equal to one of `values` (null: any), at most `limit`. Answers how many it removed. */
  removeValuesOf(
    realmId: RealmId,
    fieldId: ProfileFieldId,
    values: readonly string[] | null,
    limit: number,
  ): Promise<number>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    profiles: [reads: ProfileReads, repository: ProfileRepository];
  }
}
