import { isPrivate } from '@parley/domain/channels';
import { getOrThrow, type UserId } from '@parley/domain/kernel';
import type { GroupMembersCopy, MembersCopy } from '@parley/transfer/exports';
import { isMember, type MembershipState } from '@parley/transfer/imports';
import type { ChannelRecord, GroupRecord } from '@parley/transfer/records';
import { isPublicDigest } from './digest.js';
import type { ExistingOrganization } from './existing-organization.js';
import { groupMembersOrigin, membersOrigin } from './plan-origins.js';
import type { PlannedPeople } from './plan-people.js';
import { isLiving, type PlannedChannel, type PlannedGroup, type PlannedPlaces } from './plan-places.js';
import type { Staging } from './staging.js';

/** Returns the channels of earlier imports with other members in the source now. */
export async function planMembers(
  staging: Staging,
  people: PlannedPeople,
  places: PlannedPlaces,
  existing: ExistingOrganization,
): Promise<readonly MembersCopy[]> {
  const privateChannels = new Set(existing.realm.channels.filter(isPrivate).map(({ id }) => id));
  const changes: MembersCopy[] = [];
  for (const { record } of staging.list('channel')) {
    const channel = places.findChannel(record.id);
    const before = existing.membersHash('members', record.id);
    if (!channel?.isExisting || record.isUnlisted || !existing.isOwn('channel', channel.id)) continue;
    const isEqual = isLiving(channel) && before === membersOrigin(record).hash;
    if (isEqual && !record.members.some((id) => people.former.has(people.get(id).id))) continue;
    const change = await changeOf(channel, record, existing);
    if (isEqual && change.left.length + change.kept.length === 0) continue;
    const closes = before !== undefined && isPublicDigest(before) && record.privacy === 'private';
    changes.push({
      ...change,
      becomesPrivate: closes && !record.hasMoreMembers && !privateChannels.has(channel.id),
    });
  }
  return changes;
}

async function changeOf(
  channel: PlannedChannel,
  record: ChannelRecord,
  existing: ExistingOrganization,
): Promise<Omit<MembersCopy, 'becomesPrivate'>> {
  const { id: channelId, members } = channel;
  const states = await existing.memberships({ kind: 'membership', targetId: channelId });
  const change = { ...membersChange(members, states, record), channelId, origin: membersOrigin(record) };
  // A hidden channel gets all of its members when it is published.
  return isLiving(channel) ? change : { ...change, joined: [] };
}

/** Compares the members in the source with those after the earlier imports. */
function membersChange(
  members: ReadonlySet<UserId>,
  states: ReadonlyMap<UserId, MembershipState>,
  { hasMoreMembers = false }: Pick<ChannelRecord | GroupRecord, 'hasMoreMembers'>,
) {
  const former = [...states].filter(([userId]) => !hasMoreMembers && !members.has(userId));
  const formerIn = (state: MembershipState) => former.flatMap(([userId, other]) => (other === state ? userId : []));
  return {
    members: [...members],
    joined: [...members].filter((userId) => !isMember(states.get(userId))),
    left: formerIn('joined'),
    kept: formerIn('present'),
  };
}

/** Returns the groups of earlier imports with other members in the source now. */
export async function planGroupMembers(
  staging: Staging,
  groups: ReadonlyMap<string, PlannedGroup>,
  existing: ExistingOrganization,
): Promise<readonly GroupMembersCopy[]> {
  const changes: GroupMembersCopy[] = [];
  for (const { record } of staging.list('group')) {
    const { id: groupId, isExisting, members } = getOrThrow(groups, record.id);
    const origin = groupMembersOrigin(record);
    if (!isExisting || !existing.isOwn('group', groupId)) continue;
    if (existing.membersHash('groupMembers', record.id) === origin.hash) continue;
    const states = await existing.memberships({ kind: 'groupMembership', targetId: groupId });
    changes.push({ ...membersChange(members, states, record), groupId, origin });
  }
  return changes;
}

/** Change of members in the report. */
export interface ReportedMembers {
  /** Channel or group. */
  readonly name: string;
  /** Names of people. */
  readonly joined: readonly string[];
  readonly left: readonly string[];
  readonly kept: readonly string[];
  readonly becomesPrivate: boolean;
}

interface MemberChanges {
  readonly members: readonly MembersCopy[];
  readonly groups: readonly GroupMembersCopy[];
}

/** Returns channel and group changes for the report. */
export function reportedMembers(
  { members, groups }: MemberChanges,
  { realm }: ExistingOrganization,
  people: PlannedPeople,
): { readonly members: readonly ReportedMembers[]; readonly groupMembers: readonly ReportedMembers[] } {
  const places = new Map(realm.channels.map(({ id, name }) => [id, name]));
  const groupNames = new Map(realm.groups.map(({ id, name }) => [id, name]));
  const names = new Map([
    ...realm.users.map(({ user }) => [user.id, user.fullName] as const),
    ...people.users.map(({ id, fullName }) => [id, fullName] as const),
  ]);
  const namesOf = (userIds: readonly UserId[]) => userIds.map((id) => names.get(id) ?? '');
  const reported = (name: string, { joined, left, kept }: MembersCopy | GroupMembersCopy, becomesPrivate = false) => {
    const isEmpty = !becomesPrivate && [joined, left, kept].every((them) => them.length === 0);
    return isEmpty ? [] : [{ name, joined: namesOf(joined), left: namesOf(left), kept: namesOf(kept), becomesPrivate }];
  };
  return {
    members: members.flatMap((copy) => reported(places.get(copy.channelId) ?? '', copy, copy.becomesPrivate)),
    groupMembers: groups.flatMap((copy) => reported(groupNames.get(copy.groupId) ?? '', copy)),
  };
}
