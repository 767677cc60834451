import type { GroupSettingUpdate, GroupSettingValue } from '@parley/domain/groups';
import type { GroupId, UserId } from '@parley/domain/shared';
import { given } from '../routing/given.js';
import type { WireGroupSetting } from '../routing/param-types.js';

/** Channels §2.4. */
export function presentGroupSetting(value: GroupSettingValue): WireGroupSetting {
  if (typeof value === 'number') return value;
  return { direct_members: [...value.directMembers], direct_subgroups: [...value.directSubgroups] };
}

/** The way back, for what clients choose. */
export function toGroupSetting(wire: WireGroupSetting): GroupSettingValue {
  if (typeof wire === 'number') return wire as GroupId;
  return {
    directMembers: wire.direct_members as UserId[],
    directSubgroups: wire.direct_subgroups as GroupId[],
  };
}

/** A change of it, with the value that the client believes it to have, if it says so. */
export const toGroupSettingUpdate = (change: {
  readonly new: WireGroupSetting;
  readonly old?: WireGroupSetting | undefined;
}): GroupSettingUpdate =>
  given({
    new: toGroupSetting(change.new),
    old: change.old === undefined ? undefined : toGroupSetting(change.old),
  });
