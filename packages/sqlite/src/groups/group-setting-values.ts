import type { GroupSettingValue, GroupSettingValues } from '@parley/domain/access';
import type { GroupId } from '@parley/domain/kernel';

/** What each permission of a registry is given to, as people see it. Permissions given to nothing known are absent. */
export function groupSettingValues<R extends object>(
  registry: R,
  groupSettings: { readonly [K in keyof R]: GroupId } | null,
  values: ReadonlyMap<GroupId, GroupSettingValue>,
): GroupSettingValues<R> {
  const spelt: Record<string, GroupSettingValue> = {};
  for (const name of Object.keys(registry)) {
    const value = groupSettings && values.get(groupSettings[name as keyof R]);
    if (value !== null && value !== undefined) spelt[name] = value;
  }
  return spelt as GroupSettingValues<R>;
}
