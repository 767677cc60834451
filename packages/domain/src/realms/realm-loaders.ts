import type { Snapshot } from '../events/snapshot.js';
import type { GroupSettingValue } from '../groups/group-setting.js';
import type { SystemGroupName } from '../groups/system-groups.js';
import type { GroupId } from '../shared/ids.js';

export interface LoadedRealmPermissions {
  /** What the realm's permissions are given to. */
  readonly values: ReadonlyMap<GroupId, GroupSettingValue>;
  readonly systemGroupIds: Readonly<Record<SystemGroupName, GroupId>>;
}

export async function loadRealmPermissions({ realm, repositories }: Snapshot): Promise<LoadedRealmPermissions> {
  const { groups } = repositories;
  return {
    values: await groups.settingValues(realm.id, [...new Set(Object.values(realm.permissions))]),
    systemGroupIds: await groups.systemGroupIds(realm.id),
  };
}
