import { isPrivate } from '@parley/domain/channels';
import { isMember, type MembersCopy } from '@parley/domain/exports';
import type { ChannelRecord } from '@parley/domain/imports';
import type { UserId } from '@parley/domain/kernel';
import { isPublicDigest } from './digest.js';
import type { ExistingOrganization } from './existing-organization.js';
import { membersOrigin } from './plan-origins.js';
import type { PlannedPeople } from './plan-people.js';
import { isLiving, type PlannedChannel, type PlannedPlaces } from './plan-places.js';
import type { Staging } from './staging.js';

/** Returns the channels of earlier imports with other members in the source now. */
export async function planMembers(
  staging: Staging,
  places: PlannedPlaces,
  existing: ExistingOrganization,
): Promise<readonly MembersCopy[]> {
  const privateChannels = new Set(existing.realm.channels.filter(isPrivate).map(({ id }) => id));
  const changes: MembersCopy[] = [];
  for (const { record } of staging.list('channel')) {
    const channel = places.findChannel(record.id)!;
    const before = existing.membersHash(record.id);
    if (!channel.isExisting || (isLiving(channel) && before === membersOrigin(record).hash)) continue;
    const closes = before !== undefined && isPublicDigest(before) && record.privacy === 'private';
    changes.push({
      ...(await changeOf(channel, record, existing)),
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
  const states = await existing.memberships(channelId);
  const former = [...states].filter(([userId]) => !record.hasMoreMembers && !members.has(userId));
  const formerIn = (state: string) => former.filter(([, other]) => other === state).map(([userId]) => userId);
  return {
    channelId,
    origin: membersOrigin(record),
    members: [...members],
    // A hidden channel gets all of its members when it is published.
    joined: isLiving(channel) ? [...members].filter((userId) => !isMember(states.get(userId))) : [],
    left: formerIn('joined'),
    kept: formerIn('present'),
  };
}

/** Change of members in the report. */
export interface ReportedMembers {
  readonly channel: string;
  /** Names of people. */
  readonly joined: readonly string[];
  readonly left: readonly string[];
  readonly kept: readonly string[];
  readonly becomesPrivate: boolean;
}

export function reportedMembers(
  changes: readonly MembersCopy[],
  existing: ExistingOrganization,
  people: PlannedPeople,
): readonly ReportedMembers[] {
  const channels = new Map(existing.realm.channels.map(({ id, name }) => [id, name]));
  const names = new Map([
    ...existing.realm.users.map(({ user }) => [user.id, user.fullName] as const),
    ...people.users.map(({ id, fullName }) => [id, fullName] as const),
  ]);
  const namesOf = (userIds: readonly UserId[]) => userIds.map((id) => names.get(id) ?? '');
  return changes
    .map(({ channelId, joined, left, kept, becomesPrivate }) => ({
      ...{ channel: channels.get(channelId) ?? '', joined: namesOf(joined), left: namesOf(left) },
      ...{ kept: namesOf(kept), becomesPrivate },
    }))
    .filter(
      ({ joined, left, kept, becomesPrivate }) =>
        becomesPrivate || [joined, left, kept].some((them) => them.length > 0),
    );
}
