import { type Channel, isPrivate } from '@parley/domain/channels';
import { type DomainError, invalidImport, type PersonCopy, type RealmCopy, type UserId } from '@parley/domain/kernel';
import type { User } from '@parley/domain/users';
import { type AccessCopy, type AccessDifference, newAccess, type Readers } from '@parley/transfer/records';
import type { ExistingOrganization } from './existing-organization.js';
import type { PlannedPeople } from './plan-people.js';
import { isLiving, type PlannedPlaces, placeKey } from './plan-places.js';
import type { Staging } from './staging.js';

/** Computes from the records who could read what at the time of the export. */
export function sourceAccess(staging: Staging, people: PlannedPeople, places: PlannedPlaces): AccessCopy<UserId> {
  const fullMembers = new Set<UserId>();
  for (const { record } of staging.list('person')) {
    const isFull = record.role !== 'guest' && !record.isExternal && !record.isDeactivated && !record.isBot;
    if (isFull) fullMembers.add(people.get(record.id).id);
  }
  const conversations = new Map<string, Readers<UserId>>();
  const readersOf = (members: readonly string[]) => new Set(members.map((id) => people.get(id).id));
  for (const { record } of staging.list('channel')) {
    const recipientId = places.findChannel(record.id)?.recipientId;
    if (recipientId === undefined) continue;
    conversations.set(String(recipientId), { isOpen: record.privacy === 'public', readers: readersOf(record.members) });
  }
  for (const { record } of staging.list('conversation')) {
    const recipientId = places.find(placeKey({ conversation: record.id }))!.recipientId;
    conversations.set(String(recipientId), { isOpen: false, readers: readersOf(record.members) });
  }
  return { fullMembers, conversations };
}

/** Computes from the new organization who can read what; users without an account cannot log in. */
export function targetAccess(
  realm: Pick<RealmCopy, 'users' | 'channels' | 'conversations'>,
  people: Iterable<PersonCopy>,
): AccessCopy<UserId> {
  const active = new Map(
    realm.users.filter(({ user }) => user.isActive && !user.bot).map(({ user }) => [user.id, user.role]),
  );
  const fullMembers = new Set([...active].filter(([, role]) => role !== 'guest').map(([id]) => id));
  const subscribers = new Map<number, Set<UserId>>();
  for (const { userId, subscriptions } of people) {
    for (const { channelId, isActive } of subscriptions) {
      if (!isActive || !active.has(userId)) continue;
      subscribers.set(channelId, (subscribers.get(channelId) ?? new Set()).add(userId));
    }
  }
  const conversations = new Map<string, Readers<UserId>>();
  for (const { id, recipientId, privacy } of realm.channels) {
    const isOpen = privacy === 'public' || privacy === 'webPublic';
    conversations.set(String(recipientId), { isOpen, readers: subscribers.get(id) ?? new Set() });
  }
  for (const { recipientId, userIds } of realm.conversations) {
    conversations.set(String(recipientId), { isOpen: false, readers: new Set(userIds.filter((id) => active.has(id))) });
  }
  return { fullMembers, conversations };
}

/** Returns the people who could read a conversation only after the import. */
export const addedAccess = (
  before: AccessCopy<UserId>,
  realm: Pick<RealmCopy, 'users' | 'channels' | 'conversations'>,
  people: Iterable<PersonCopy>,
): readonly AccessDifference<UserId>[] => newAccess(before, targetAccess(realm, people));

/**
 * Returns the names of people who can read new messages of earlier public channels and of direct conversations, but no longer could
 * in the source.
 */
export function readersOfNew(
  existing: ExistingOrganization,
  access: AccessCopy<UserId>,
  {
    staging,
    people,
    places,
  }: { readonly staging: Staging; readonly people: PlannedPeople; readonly places: PlannedPlaces },
): readonly string[] {
  const rows = staging.all<{ readonly place: string }>(
    `SELECT DISTINCT place FROM planned WHERE role = 'message' AND number > ?`,
    staging.lastKnown,
  );
  const grown = rows.map(({ place }) => places.find(place)!);
  const open = new Set(existing.realm.channels.flatMap((channel) => (isPrivate(channel) ? [] : channel.id)));
  const members = grown.some((place) => isLiving(place) && place.kind === 'channel' && open.has(place.id))
    ? outsidersOf(existing, access)
    : [];
  const participants = grown.flatMap((place) => (place.kind === 'conversation' ? place.userIds : []));
  const ids = new Set([...members, ...participants.filter((id) => people.former.has(id))]);
  return existing.realm.users.flatMap(({ user }) => (ids.has(user.id) ? user.fullName : []));
}

/** Error that names a person and, unless it is direct, the conversation that only the import would open. */
export const addedReaderError = (
  user: Pick<User, 'fullName' | 'email'> | undefined,
  channel: Pick<Channel, 'name'> | undefined,
): DomainError => {
  const who = user ? `${user.fullName} (${user.email})` : 'Somebody';
  const where = channel ? `the channel ${JSON.stringify(channel.name)}` : 'a direct conversation';
  return invalidImport(`${who} could read ${where} only after the import.`);
};

/** Returns the people who can read public channels of the organization, but could not read those of the source. */
export function outsidersOf({ realm }: ExistingOrganization, { fullMembers }: AccessCopy<UserId>): readonly UserId[] {
  const readers = targetAccess({ ...realm, channels: [], conversations: [] }, []).fullMembers;
  return [...readers].filter((id) => !fullMembers.has(id));
}
