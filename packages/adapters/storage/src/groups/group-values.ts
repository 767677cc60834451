import type { GroupSettingValue, GroupSettingValues } from '@parley/domain/access';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { ascending } from '../engine/rows.js';
import { memoize } from '../engine/text-cache.js';

/** Presentable values of a registry's permissions. Permissions with unknown groups are absent. */
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

/** Memoized, because many anonymous groups hold the same content, mostly one user. */
export const anonymousValue = memoize<GroupSettingValue>((content) => {
  const [members, subgroups] = content.split('/');
  return {
    directMembers: idsOf(members!).sort(ascending) as UserId[],
    directSubgroups: idsOf(subgroups!).sort(ascending) as GroupId[],
  };
});
const idsOf = (list: string): number[] => (list === '' ? [] : list.split(',').map(Number));
