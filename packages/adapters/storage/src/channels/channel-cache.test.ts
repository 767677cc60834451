import type { GroupSettingValue } from '@parley/domain/access';
import { CHANNEL_PERMISSIONS, type ChannelPermissions } from '@parley/domain/channels';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { GroupValues, PERMISSION_NAMES, SharedPermissions } from './channel-cache.js';

const everywhere = (group: number) =>
  Object.fromEntries(Object.keys(CHANNEL_PERMISSIONS).map((name) => [name, group])) as unknown as ChannelPermissions;

const valuesOf = (group: number, value: GroupSettingValue) => new GroupValues(new Map([[group as GroupId, value]]));

const people = (from: number, count: number): GroupSettingValue => ({
  directMembers: Array.from({ length: count }, (_, n) => (from + n) as UserId),
  directSubgroups: [],
});

it('returns one object for equal values of different groups', () => {
  const shared = new SharedPermissions();
  const first = shared.of(everywhere(1), valuesOf(1, people(10, 3)));
  expect(shared.of(everywhere(2), valuesOf(2, people(10, 3)))).toBe(first);
  expect(shared.of(everywhere(2), valuesOf(2, people(11, 3)))).not.toBe(first);
  expect(first[PERMISSION_NAMES[0]!]).toEqual(people(10, 3));
});

it('clears its cache at the size limit', () => {
  const shared = new SharedPermissions();
  const first = shared.of(everywhere(1), valuesOf(1, people(10, 3)));
  for (let n = 0; n < 20; n++) shared.of(everywhere(1), valuesOf(1, people(1_000_000 * (n + 1), 5000)));
  expect(shared.of(everywhere(1), valuesOf(1, people(10, 3)))).not.toBe(first);
});
