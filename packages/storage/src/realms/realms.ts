import { DomainError, type RealmId, type UnixSeconds } from '@parley/domain/kernel';
import {
  type NewRealmRow,
  REALM_PERMISSIONS,
  type Realm,
  type RealmImage,
  STORED_REALM_SETTINGS,
  USER_SETTINGS,
  USUAL_REALM_IMAGES,
} from '@parley/domain/realms';
import type { Quarantine } from '../quarantine.js';
import { type Flag, groupSettingsColumn, objectColumn, settingsColumn, toFlag } from '../rows.js';

export const stringIdTaken = () =>
  new DomainError('STRING_ID_TAKEN', 'Subdomain already in use. Please choose a different one.');
const realmSettings = settingsColumn(STORED_REALM_SETTINGS, 'realm', 'settings');
const userDefaults = settingsColumn(USER_SETTINGS, 'realm', 'user_defaults');
const images = objectColumn<RealmImage>('realm', 'images', (value) => {
  const { isUploaded, version } = (value ?? {}) as Partial<RealmImage>;
  return typeof isUploaded === 'boolean' && Number.isSafeInteger(version);
});
export const realmPermissions = groupSettingsColumn(REALM_PERMISSIONS, 'realm');

export interface RealmRow {
  readonly id: RealmId;
  readonly version: number;
  readonly string_id: string;
  readonly uuid: string;
  readonly name: string;
  readonly is_deactivated: Flag;
  readonly created_at: UnixSeconds;
  readonly settings: string;
  readonly rendered_description: string;
  readonly permissions: string;
  readonly user_defaults: string;
  readonly is_at_server_address: Flag;
  readonly images: string;
}

/** `permissions` and `linkifiers` are read by statements of their own. */
export const toRealm = (
  row: RealmRow,
  permissions: Realm['permissions'],
  linkifiers: Realm['linkifiers'],
  quarantine: Quarantine,
): Realm => ({
  id: row.id,
  stringId: row.string_id,
  isAtServerAddress: row.is_at_server_address === 1,
  uuid: row.uuid,
  name: row.name,
  isDeactivated: row.is_deactivated === 1,
  createdAt: row.created_at,
  settings: realmSettings.fromJson(row.settings, row.id, quarantine),
  renderedDescription: row.rendered_description,
  permissions,
  linkifiers,
  images: { ...USUAL_REALM_IMAGES, ...images(row.images, row.id, quarantine) },
  userDefaults: userDefaults.fromJson(row.user_defaults, row.id, quarantine),
});

/** Column values in the order in which they are stored, without permissions. */
export function fromRealm(realm: NewRealmRow): readonly (string | number | null)[] {
  return [
    realm.stringId,
    realm.uuid,
    realm.name,
    toFlag(realm.isDeactivated),
    realm.createdAt,
    realmSettings.toJson(realm.settings),
    realm.renderedDescription,
    userDefaults.toJson(realm.userDefaults),
    toFlag(realm.isAtServerAddress),
    JSON.stringify(realm.images),
  ];
}
