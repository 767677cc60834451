import type { Actor } from '../access/actor.js';
import type { EventSeq, RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { UserWithProfile } from './profile-value.js';
import { isKnownToGuest, isLimitedGuest, mayAccessUser } from './user-access.js';
import { withProfiles } from './user-profiles.js';

/** Whom a limited guest may know; for everybody else empty, because it is not asked (users §1.4). */
export async function conversationPartnerIds(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
): Promise<ReadonlySet<UserId>> {
  return isLimitedGuest(actor, realm) ? users.listConversationPartners(realm.id, actor.id) : new Set();
}

/** Of the realm's users, those the actor may know; null: everybody, unless they are a limited guest (users §1.4). */
export async function accessibleUserIds(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
): Promise<ReadonlySet<UserId> | null> {
  if (!isLimitedGuest(actor, realm)) return null;
  const partners = await users.listConversationPartners(realm.id, actor.id);
  return new Set([actor.id, ...partners, ...(await users.listBotIds(realm.id))]);
}

const NOBODY: ReadonlySet<UserId> = new Set();

/** Which of these users the actor may not know; nobody unless they are a limited guest (users §1.4). */
export async function inaccessibleUserIds(
  reads: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
  ids: Iterable<UserId>,
): Promise<ReadonlySet<UserId>> {
  if (!isLimitedGuest(actor, realm)) return NOBODY;
  const partners = await conversationPartnerIds(reads, actor, realm);
  const users = await reads.users.list(realm.id, [...new Set(ids)]);
  return new Set(
    users
      .filter((user) => !mayAccessUser(actor, user, { realm, sharesConversation: partners.has(user.id) }))
      .map((user) => user.id),
  );
}

type Reads = Pick<Repositories | Transaction, 'users'>;
type ReadsWithProfiles = Pick<Repositories | Transaction, 'users' | 'profiles'>;

/** Which of these users each of the guests, who may not know everybody, may not know; each guest has an entry. */
export async function inaccessibleUserIdsByGuest(
  { users }: Reads,
  realmId: RealmId,
  guestIds: readonly UserId[],
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, ReadonlySet<UserId>>> {
  const pairs = guestIds.flatMap((guestId) => userIds.map((userId) => ({ guestId, userId, at: null })));
  const answers = pairs.length === 0 ? [] : await users.areConversationPartners(realmId, pairs);
  const nonPartners = pairs.filter((_, index) => !answers[index]);
  const found = await usersById(
    { users },
    realmId,
    nonPartners.map(({ userId }) => userId),
  );
  const inaccessible = new Map<UserId, Set<UserId>>(guestIds.map((guestId) => [guestId, new Set()]));
  for (const { guestId, userId } of nonPartners) {
    const user = found.get(userId);
    if (!user || !isKnownToGuest(guestId, user, false)) inaccessible.get(guestId)!.add(userId);
  }
  return inaccessible;
}

/** That somebody came to know everybody, or knows only those they have to do with from now on (users §1.4). */
export type Reach = 'widened' | 'narrowed';

/** An event with which a guest may have come to know users, or may know them no longer. */
export interface AccessQuestion {
  readonly guestId: UserId;
  readonly userIds: readonly UserId[];
  /** As of this event they knew some of them. */
  readonly before: EventSeq;
  readonly at: EventSeq;
  readonly reach?: Reach | undefined;
}

export interface AccessChange {
  /** Whom they know from then on; in the order of the question. */
  readonly gained: readonly UserWithProfile[];
  readonly lost: readonly UserId[];
}

/** In the order of the questions. A constant number of statements. */
export async function accessChanges(
  { users, profiles }: ReadsWithProfiles,
  realmId: RealmId,
  questions: readonly AccessQuestion[],
): Promise<readonly AccessChange[]> {
  const asked = questions.flatMap(({ guestId, userIds, before, at }) =>
    userIds.flatMap((userId) => [
      { guestId, userId, at: before },
      { guestId, userId, at },
    ]),
  );
  if (asked.length === 0) return questions.map(() => ({ gained: [], lost: [] }));
  const answers = await users.areConversationPartners(realmId, asked);
  const isWhole = questions.some(({ reach }) => reach !== undefined);
  const changed = asked.flatMap(({ userId }, index) =>
    index % 2 === 0 && (isWhole || answers[index] !== answers[index + 1]) ? [userId] : [],
  );
  const found = await usersById({ users }, realmId, changed);
  const known = await withProfiles({ profiles }, realmId, [...found.values()]);
  const withProfile = new Map(known.map((user) => [user.id, user]));
  let next = 0;
  return questions.map(({ guestId, userIds, reach }) => {
    const gained: UserWithProfile[] = [];
    const lost: UserId[] = [];
    for (const userId of userIds) {
      const wasPartner = answers[next++]!;
      const isPartner = answers[next++]!;
      const [wasKnown, isKnown] = [reach === 'narrowed' || wasPartner, reach === 'widened' || isPartner];
      const user = withProfile.get(userId);
      // Bots, and themselves, a guest knows at any time.
      if (wasKnown === isKnown || !user || isKnownToGuest(guestId, user, false)) continue;
      if (isKnown) gained.push(user);
      else lost.push(userId);
    }
    return { gained, lost };
  });
}

async function usersById({ users }: Reads, realmId: RealmId, ids: readonly UserId[]) {
  const found = ids.length === 0 ? [] : await users.list(realmId, [...new Set(ids)]);
  return new Map(found.map((user) => [user.id, user]));
}
