import { type Audience, allOf, anyOf, except, users } from '../kernel/audience.js';
import type { EventSeq, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { Reach } from './accessible-users.js';
import { isLimitedGuest } from './user-access.js';
import { limitedGuests } from './user-delivery.js';

/** So many users one event names at most: each becomes an event of its own for a guest who comes to know them. */
export const MAX_USERS_PER_ACCESS_CHANGE = 200;

/** Whose rights are looked up in one go. */
const USERS_AT_A_TIME = 500;

/** Some have come to a channel, or gone. */
export interface ChannelAccessChange {
  readonly subscribers: Audience;
  /** At least one. */
  readonly changed: readonly UserId[];
  /** Who follows it beside them. */
  others(): Promise<readonly UserId[]>;
}

/** Announces to guests, who may not know everybody, whom they have come to know or know no longer (users §1.4). */
export interface AccessAnnouncer {
  /** All at once, so that nobody gets two events of somebody with whom they share several. */
  announceChannels(changes: readonly ChannelAccessChange[]): Promise<void>;
  /** These people talk to one another for the first time. */
  announceConversation(userIds: readonly UserId[]): Promise<void>;
}

/**
 * To be asked for before anything is changed. Null where guests may know everybody, as they mostly may: then there is
 * nothing to tell.
 */
export async function accessAnnouncer(tx: Transaction, realm: Realm): Promise<AccessAnnouncer | null> {
  const { everyone } = await tx.groups.systemGroupIds(realm.id);
  if (realm.permissions.canAccessAllUsers === everyone) return null;
  const before = await tx.events.lastSeq(realm.id);
  const announce = (userIds: readonly UserId[], to: Audience) =>
    append(tx, realm, userIds, allOf(limitedGuests, to), before);
  return {
    async announceChannels(changes) {
      const changedIds = [...new Set(changes.flatMap(({ changed }) => changed))];
      if (changedIds.length === 0) return;
      const guests = await limitedGuestsAmong(tx, realm, changedIds);
      const followers = anyOf(...changes.map(({ subscribers }) => subscribers));
      await announce(changedIds, except(followers, users([...guests])));
      if (guests.size === 0) return;
      // Those who come together, or leave together, come to know one another, or lose one another.
      const known = new Set(changedIds);
      for (const { changed, others } of changes) {
        if (!changed.some((id) => guests.has(id))) continue;
        for (const id of await others()) known.add(id);
        await tx.yield();
      }
      await announce([...known], users([...guests]));
    },
    announceConversation: (userIds) => announce(userIds, users(userIds)),
  };
}

async function limitedGuestsAmong(tx: Transaction, realm: Realm, ids: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const guests = new Set<UserId>();
  for (const some of slicesOf(ids, USERS_AT_A_TIME)) {
    for (const [id, actor] of await tx.actors.list(realm.id, some)) if (isLimitedGuest(actor, realm)) guests.add(id);
    await tx.yield();
  }
  return guests;
}

/**
 * Announces to guests whether they know everybody from now on, or no longer (users §1.4): all of them, or one whose role changed.
 * `before`: the end of the log before the change. Names everybody, and costs by that; it is asked for where an owner decides
 * anew about all guests, or a guest's role changes.
 */
export async function announceReach(
  tx: Transaction,
  realm: Realm,
  reach: Reach,
  to: Audience,
  before: EventSeq,
): Promise<void> {
  const ids = (await tx.users.listEntries(realm.id)).map(({ id }) => id);
  await append(tx, realm, ids, to, before, reach);
}

/** Who of them gets what is decided where the event is delivered: it costs by guests who are online. */
async function append(
  tx: Transaction,
  realm: Realm,
  userIds: readonly UserId[],
  audience: Audience,
  before: EventSeq,
  reach?: Reach,
): Promise<void> {
  for (const named of slicesOf(userIds, MAX_USERS_PER_ACCESS_CHANGE)) {
    await tx.events.append(realm.id, {
      event: { type: 'user.access_changed', userIds: named, before, ...(reach && { reach }) },
      audience,
    });
    await tx.yield();
  }
}
