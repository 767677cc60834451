import type { GroupSettingValue } from '../access/group-setting.js';
import type { SystemGroupName } from '../access/system-groups.js';
import type { GroupId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/snapshot.js';
import type { Realm } from './realm.js';

export const loadRealm = ({ caller, repositories }: Snapshot): Promise<Realm> =>
  repositories.realms.get(caller.realmId);

export interface LoadedRealmPermissions {
  /** What the realm's permissions are given to. */
  readonly values: ReadonlyMap<GroupId, GroupSettingValue>;
  readonly systemGroupIds: Readonly<Record<SystemGroupName, GroupId>>;
}

export async function loadRealmPermissions(snapshot: Snapshot): Promise<LoadedRealmPermissions> {
  const realm = await snapshot.load(loadRealm);
  const { groups } = snapshot.repositories;
  return {
    values: await groups.settingValues(realm.id, [...new Set(Object.values(realm.permissions))]),
    systemGroupIds: await groups.systemGroupIds(realm.id),
  };
}
