import type { GroupId, UserId } from '../kernel/ids.js';
import type { SystemGroupName } from './system-groups.js';

/** What a permission is given to: a named group, or an anonymous one spelt out by its members. Both lists ascend. */
export type GroupSettingValue =
  | GroupId
  | { readonly directMembers: readonly UserId[]; readonly directSubgroups: readonly GroupId[] };

/** One permission that can be given to a group (channels §3.4–3.6). */
export interface GroupSettingDefinition {
  readonly requireSystemGroup: boolean;
  readonly allowInternet: boolean;
  readonly allowNobody: boolean;
  readonly allowEveryone: boolean;
  readonly default: SystemGroupName | 'creator';
  /** The default of this permission on a system group; absent outside the registry of groups. */
  readonly defaultOnSystemGroups?: SystemGroupName;
  /** Empty: any. */
  readonly allowedSystemGroups: readonly SystemGroupName[];
}

/** `n` allows nobody, `y` allows everyone. */
export function groupSetting(
  initial: SystemGroupName | 'creator',
  allows: '' | 'n' | 'y' | 'ny',
  more: Partial<GroupSettingDefinition> = {},
): GroupSettingDefinition {
  return {
    requireSystemGroup: false,
    allowInternet: false,
    allowNobody: allows.includes('n'),
    allowEveryone: allows.includes('y'),
    default: initial,
    allowedSystemGroups: [],
    ...more,
  };
}

export type GroupSettings<R> = { readonly [K in keyof R]: GroupId };
/** The same permissions with what each is given to, as clients see it. */
export type GroupSettingValues<R> = { readonly [K in keyof R]: GroupSettingValue };
