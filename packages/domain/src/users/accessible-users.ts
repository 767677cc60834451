import { type Actor, isGuest } from '../access/actor.js';
import type { Role } from '../access/roles.js';
import type { EventSeq, RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import type { EmailVisibility } from '../realms/user-settings.js';
import { type UserWithProfile, withProfiles } from './profiles.js';
import type { User, UserListEntry, UserStatus } from './user.js';

/** Data that determines whether a guest can see a user. */
export interface UserAccess {
  readonly realm: Pick<Realm, 'permissions'>;
  /** True if they share a channel or direct conversation. Evaluated only for limited guests. */
  readonly sharesConversation: boolean;
}

/** True for a guest without access to all users (users §1.4). */
export const isLimitedGuest = (actor: Pick<Actor, 'role' | 'groups'>, realm: Pick<Realm, 'permissions'>): boolean =>
  isGuest(actor) && !hasRealmPermission(actor, realm, 'canAccessAllUsers');

/** True if a limited guest can see the user: someone with a shared conversation, or any bot (users §1.4). */
export const isKnownToGuest = (guestId: UserId, user: Pick<User, 'id' | 'bot'>, sharesConversation: boolean): boolean =>
  user.id === guestId || user.bot !== null || sharesConversation;

/** Checks access to a user (users §1.4). */
export function mayAccessUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  user: Pick<User, 'id' | 'bot'>,
  { realm, sharesConversation }: UserAccess,
): boolean {
  return isKnownToGuest(actor.id, user, sharesConversation) || !isLimitedGuest(actor, realm);
}

/** Returns the users visible to a limited guest; empty for other actors, who need no check (users §1.4). */
export async function conversationPartnerIds(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  realm: Realm,
): Promise<ReadonlySet<UserId>> {
  return isLimitedGuest(actor, realm) ? users.listConversationPartners(realm.id, actor.id) : new Set();
}

/** Returns the users visible to the actor; null for all, unless the actor is a limited guest (users §1.4). */
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

/** Returns the given users who are hidden from the actor; empty unless the actor is a limited guest (users §1.4). */
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
type ReadsWithProfiles = Pick<Repositories | Transaction, 'users' | 'profiles' | 'statuses'>;

/** Returns the given users hidden from each limited guest, with one entry per guest. */
export async function inaccessibleUserIdsByGuest(
  reads: Reads,
  realmId: RealmId,
  guestIds: readonly UserId[],
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, ReadonlySet<UserId>>> {
  const pairs = guestIds.flatMap((guestId) => userIds.map((userId) => ({ guestId, userId, at: null })));
  const answers = await reads.users.areConversationPartners(realmId, pairs);
  const nonPartners = pairs.filter((_, index) => !answers[index]);
  const found = await usersById(
    reads,
    realmId,
    nonPartners.map(({ userId }) => userId),
  );
  const inaccessible = new Map<UserId, Set<UserId>>(guestIds.map((guestId) => [guestId, new Set()]));
  for (const { guestId, userId } of nonPartners) {
    const user = found.get(userId);
    if (!user || !isKnownToGuest(guestId, user, false)) getOrThrow(inaccessible, guestId).add(userId);
  }
  return inaccessible;
}

/** Change of a user's access to all users (gained or lost; users §1.4). */
export type Reach = 'widened' | 'narrowed';

/** Event that may have changed which users a guest can see. */
export interface AccessQuestion {
  readonly guestId: UserId;
  readonly userIds: readonly UserId[];
  /** Event as of which the previous access is evaluated. */
  readonly before: EventSeq;
  readonly at: EventSeq;
  readonly reach?: Reach | undefined;
}

/** User that became visible. */
export interface GainedUser extends UserWithProfile {
  /** Null if the user never set a status. */
  readonly status: UserStatus | null;
}

export interface AccessChange {
  /** Users that became visible, in the order of the question. */
  readonly gained: readonly GainedUser[];
  readonly lost: readonly UserId[];
}

/**
 * Returns results in the order of the questions. Runs one statement per 10,000 pairs and a constant number of others.
 */
export async function accessChanges(
  reads: ReadsWithProfiles,
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
  const answers = await reads.users.areConversationPartners(realmId, asked);
  const isWhole = questions.some(({ reach }) => reach !== undefined);
  const changed = asked.flatMap(({ userId }, index) =>
    index % 2 === 0 && (isWhole || answers[index] !== answers[index + 1]) ? [userId] : [],
  );
  const found = await usersById(reads, realmId, changed);
  const accessible = await withProfiles(reads, realmId, [...found.values()]);
  const statuses = accessible.length === 0 ? null : await reads.statuses.list(realmId);
  const shown = new Map(accessible.map((user) => [user.id, { ...user, status: statuses?.get(user.id) ?? null }]));
  let next = 0;
  return questions.map(({ guestId, userIds, reach }) => {
    const gained: GainedUser[] = [];
    const lost: UserId[] = [];
    for (const userId of userIds) {
      const wasPartner = answers[next++]!;
      const isPartner = answers[next++]!;
      const [wasKnown, isKnown] = [reach === 'narrowed' || wasPartner, reach === 'widened' || isPartner];
      const user = shown.get(userId);
      // Guests can always see bots and themselves.
      if (wasKnown === isKnown || !user || isKnownToGuest(guestId, user, false)) continue;
      if (isKnown) gained.push(user);
      else lost.push(userId);
    }
    return { gained, lost };
  });
}

async function usersById({ users }: Pick<Reads, 'users'>, realmId: RealmId, ids: readonly UserId[]) {
  const found = ids.length === 0 ? [] : await users.list(realmId, [...new Set(ids)]);
  return new Map(found.map((user) => [user.id, user]));
}

const VISIBLE_TO: Readonly<Record<Role, readonly EmailVisibility[]>> = {
  owner: ['everyone', 'members', 'administrators', 'moderators'],
  administrator: ['everyone', 'members', 'administrators', 'moderators'],
  moderator: ['everyone', 'members', 'moderators'],
  member: ['everyone', 'members'],
  guest: ['everyone'],
};

/** Visibility settings under which users with this role see an email; for searches by email. */
export const visibleEmailSettings = (role: Role): readonly EmailVisibility[] => VISIBLE_TO[role];

type Addressed = Pick<User, 'id' | 'email' | 'bot'> & {
  readonly settings: Pick<User['settings'], 'emailAddressVisibility'>;
};

/** Returns the user's email visibility; emails of bots are always visible. */
export const emailVisibilityOf = (user: Pick<Addressed, 'bot' | 'settings'>): EmailVisibility =>
  user.bot === null ? user.settings.emailAddressVisibility : 'everyone';

/** True if everyone, including guests, can see the email. */
export const isEmailPublic = (user: Addressed): boolean => emailVisibilityOf(user) === 'everyone';

/** User data that determines who can see the email. */
export interface EmailOwner {
  readonly id: UserId;
  /** Result of `emailVisibilityOf`. */
  readonly emailVisibility: EmailVisibility;
}

/** Users always see their own email. */
export function seesEmailOf(
  viewer: { readonly id: UserId; readonly role: Role },
  { id, emailVisibility }: EmailOwner,
): boolean {
  return viewer.id === id || VISIBLE_TO[viewer.role].includes(emailVisibility);
}

export const canSeeEmail = (viewer: { readonly id: UserId; readonly role: Role }, user: Addressed): boolean =>
  seesEmailOf(viewer, { id: user.id, emailVisibility: emailVisibilityOf(user) });

/**
 * Deliberate: as in the reference server, users cannot find themselves by an email that is hidden from their own role
 * (users §2).
 */
export function canFindByEmail(viewer: { readonly role: Role }, user: Addressed): boolean {
  return VISIBLE_TO[viewer.role].includes(emailVisibilityOf(user));
}

/** Returns the viewer-independent email of a user: the real one if public, else the dummy email. */
export function publicAddress(user: Addressed, host: string): string {
  return isEmailPublic(user) ? user.email : dummyAddress(user.id, host);
}

export const dummyAddress = (id: UserId, host: string): string => `user${id}@${host}`;

export interface UserList {
  readonly viewer: Actor;
  readonly realm: Realm;
  /** Sorted by ascending id; includes deactivated users and bots but no system bots. */
  readonly entries: readonly UserListEntry[];
}

/** Called inside the read snapshot, so that presenters with a user cache load only missing users. */
export type PresentUsers<T> = (
  list: UserList,
  hydrate: (ids: readonly UserId[]) => Promise<readonly UserWithProfile[]>,
) => Promise<T>;

/** Presents the users among `ids` that the viewer can see; null means all users. */
export async function presentVisibleUsers<T>(
  repositories: Repositories,
  { viewer, realm, ids }: Pick<UserList, 'viewer' | 'realm'> & { readonly ids: readonly UserId[] | null },
  present: PresentUsers<T>,
): Promise<T> {
  const wanted = ids && new Set(ids);
  const hydrate = async (some: readonly UserId[]) => {
    return withProfiles(repositories, realm.id, await repositories.users.list(realm.id, some));
  };
  const accessible = await accessibleUserIds(repositories, viewer, realm);
  const entries = (await repositories.users.listEntries(realm.id)).filter(
    ({ id }) => (!wanted || wanted.has(id)) && (!accessible || accessible.has(id)),
  );
  return present({ viewer, realm, entries }, hydrate);
}
