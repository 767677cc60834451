import { defaultGroupSettings } from '../access/default-group-settings.js';
import type { GroupSettings } from '../access/group-setting.js';
import { SUBGROUP_OF, SYSTEM_GROUPS, type SystemGroupName, systemGroupTitle } from '../access/system-groups.js';
import { GROUP_PERMISSIONS } from '../groups/group.js';
import { DomainError } from '../kernel/errors.js';
import type { GroupId, UnixSeconds } from '../kernel/ids.js';
import { settingValues } from '../kernel/settings.js';
import { isLongerThan } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { USUAL_REALM_IMAGES } from '../realms/realm-images.js';
import type { NewRealmRow } from '../realms/realm-repository.js';
import { MAX_REALM_NAME_LENGTH, REALM_PERMISSIONS, STORED_REALM_SETTINGS } from '../realms/realm-settings.js';
import { USER_SETTINGS } from '../realms/user-settings.js';
import { SYSTEM_BOTS } from '../users/user.js';

export interface NewRealm {
  /** Its subdomain; `''` for the root organization. */
  readonly stringId: string;
  readonly uuid: string;
  readonly name: string;
  readonly isAtServerAddress: boolean;
  readonly createdAt: UnixSeconds;
}

/** Organization §2.1. */
const MAX_STRING_ID_LENGTH = 40;
/** `www` leads to the server itself. */
export const RESERVED_STRING_IDS: ReadonlySet<string> = new Set(['www']);

/** @throws DomainError INVALID_REALM_NAME */
export function checkRealmName(name: string): void {
  if (name.trim() === '') throw new DomainError('INVALID_REALM_NAME', 'An organization needs a name.');
  if (isLongerThan(name, MAX_REALM_NAME_LENGTH))
    throw new DomainError('INVALID_REALM_NAME', 'Organization name is too long.');
}

/** Whatever else there is on the server. @throws DomainError INVALID_STRING_ID, STRING_ID_TAKEN, INVALID_REALM_NAME */
export function checkNewRealm({ stringId, name }: Pick<NewRealm, 'stringId' | 'name'>): void {
  if (!/^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$/.test(stringId)) {
    throw new DomainError(
      'INVALID_STRING_ID',
      'An organization is named by lower-case letters, digits and dashes in between.',
    );
  }
  if (stringId.length > MAX_STRING_ID_LENGTH) throw new DomainError('INVALID_STRING_ID', 'Subdomain is too long.');
  if (RESERVED_STRING_IDS.has(stringId))
    throw new DomainError('STRING_ID_TAKEN', 'Subdomain reserved. Please choose a different one.');
  checkRealmName(name);
}

/** An empty realm: its system groups, its permissions at their defaults, its own bots. */
export async function addRealm(tx: Transaction, newRealm: NewRealm): Promise<Realm> {
  checkNewRealm(newRealm);
  const { stringId, uuid, name, isAtServerAddress, createdAt } = newRealm;
  const realm: NewRealmRow = {
    stringId,
    isAtServerAddress,
    uuid,
    name,
    isDeactivated: false,
    createdAt,
    settings: settingValues(STORED_REALM_SETTINGS, {}),
    renderedDescription: '',
    images: USUAL_REALM_IMAGES,
    userDefaults: settingValues(USER_SETTINGS, {}),
  };
  const id = await tx.realms.add(realm);
  const system = await addSystemGroups(tx, id, createdAt);
  const created: Realm = {
    ...realm,
    id,
    linkifiers: [],
    permissions: await defaultGroupSettings(REALM_PERMISSIONS, system, async () => system.nobody),
  };
  await tx.realms.update(created);
  for (const { kind, localPart, fullName } of SYSTEM_BOTS) {
    await tx.users.add(
      {
        realmId: id,
        email: `${localPart}@parley.invalid`,
        fullName,
        role: 'member',
        isActive: true,
        isDeleted: false,
        joinedAt: createdAt,
        bot: { kind: 'generic', ownerId: null, isSystem: true, defaultSendingChannelId: null },
        avatar: { source: 'generated', version: 1 },
        specialPermissions: [],
        settings: created.userDefaults,
        editedSettings: [],
      },
      null,
      kind,
    );
  }
  return created;
}

async function addSystemGroups(
  tx: Transaction,
  realmId: Realm['id'],
  createdAt: UnixSeconds,
): Promise<Record<SystemGroupName, GroupId>> {
  const ids = {} as Record<SystemGroupName, GroupId>;
  for (const { name, description } of SYSTEM_GROUPS) {
    const nobody = ids.nobody;
    const subgroup = SUBGROUP_OF[name];
    const subgroupIds = subgroup ? [ids[subgroup]] : [];
    const group = await tx.groups.add(
      {
        realmId,
        name: systemGroupTitle(name),
        description,
        systemName: name,
        isDeactivated: false,
        creatorId: null,
        createdAt,
        permissions: nobody === undefined ? null : onSystemGroup(ids),
      },
      [],
      subgroupIds,
    );
    ids[name] = group.id;
    if (nobody === undefined) await tx.groups.update({ ...group, permissions: onSystemGroup(ids) });
    await tx.events.append(realmId, {
      event: { type: 'group.created', groupId: group.id, memberIds: [], subgroupIds, view: null },
      audience: { kind: 'nobody' },
    });
  }
  return ids;
}

/** Nobody manages, joins or mentions a system group. */
function onSystemGroup(ids: Pick<Record<SystemGroupName, GroupId>, 'nobody'>): GroupSettings<typeof GROUP_PERMISSIONS> {
  const groupSettings: Record<string, GroupId> = {};
  for (const name of Object.keys(GROUP_PERMISSIONS)) groupSettings[name] = ids.nobody;
  return groupSettings as GroupSettings<typeof GROUP_PERMISSIONS>;
}
