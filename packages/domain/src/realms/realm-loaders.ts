import type { GroupSettingValue } from '../access/group-settings.js';
import type { SystemGroupName } from '../access/roles.js';
import type { GroupId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { AllowedDomain } from './allowed-domains.js';
import type { Playground } from './playgrounds.js';
import type { Realm } from './realm.js';

export const loadRealm = ({ caller, repositories }: Snapshot): Promise<Realm> =>
  repositories.realms.get(caller.realmId);

export interface LoadedRealmPermissions {
  /** Holders of the realm's permissions. */
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

export const loadAllowedDomains = ({ caller, repositories }: Snapshot): Promise<readonly AllowedDomain[]> =>
  repositories.allowedDomains.list(caller.realmId);

export const loadPlaygrounds = ({ caller, repositories }: Snapshot): Promise<readonly Playground[]> =>
  repositories.playgrounds.list(caller.realmId);
