import type { GroupSettingValue } from '@parley/domain/access';
import type { GroupId, UserId } from '@parley/domain/kernel';
import type { WireGroupSetting } from '../kernel/param-types.js';

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
