import type { GroupProjection } from '../access/group-delivery.js';
import { isAtLeast, ROLES, type Role } from '../access/roles.js';
import type {
  AudienceMembers,
  AudienceRules,
  LiveCandidate,
  LiveProjection,
  ReceiverRequest,
  ReplayedCandidate,
  SignedOut,
} from '../kernel/delivery.js';
import type { Audience, DomainEvent } from '../kernel/event.js';
import type {
  AudienceQuestions,
  AudienceResults,
  EventNeeds,
  LookupUsers,
  Membership,
  OnlineUser,
  QueueOwner,
  QueueOwnerRights,
  RealmSnapshot,
  Receiver,
} from '../kernel/feature-types.js';
import { type EventSeq, isId, type RealmId, type UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import {
  accessChanges,
  canSeeEmail,
  type GainedUser,
  inaccessibleUserIdsByGuest,
  isLimitedGuest,
  type Reach,
} from './accessible-users.js';
import { accountDeactivated } from './authentication.js';
import type { User } from './user.js';

declare module '../kernel/feature-types.js' {
  interface AudienceTypes {
    role: { readonly atLeast: Role };
    /** Everyone except guests who cannot see the user (users §1.4). */
    accessors: { readonly userId: UserId };
    /** Guests without access to all users (users §1.4). */
    limitedGuests: unknown;
  }
  interface Membership {
    hasRole(atLeast: Role): boolean;
    /** True for a guest without access to all users. */
    isLimitedGuest(): boolean;
    /** Called only for limited guests. */
    knows(userId: UserId): boolean;
  }
  interface AudienceQuestions {
    /** Users whose visibility must be known. */
    readonly userIds?: readonly UserId[];
  }
  interface QueueOwner {
    readonly role: Role;
    /** Guest without access to all users. */
    readonly isLimitedGuest: boolean;
  }
  interface OnlineUser {
    role: Role;
  }
  interface RealmSnapshot {
    readonly permissions: Realm['permissions'];
  }
  interface AudienceResults {
    /** Users hidden from each guest, among the requested ones. */
    readonly inaccessible: ReadonlyMap<UserId, ReadonlySet<UserId>>;
  }
  interface LookupUsers {
    /** Limited guests to check. */
    readonly guestIds: readonly UserId[];
  }
  interface Receiver {
    readonly role: Role;
    /** Users in `EventNeeds.userIds` hidden from the receiver (users §1.4). */
    readonly inaccessible: ReadonlySet<UserId>;
    /** Users in `EventNeeds.access` that became visible or hidden, by ascending id. */
    readonly gained: readonly GainedUser[];
    readonly lost: readonly UserId[];
    /** Users in `EventNeeds.addresses` with an email that became visible or hidden. */
    readonly addressChanges: readonly AddressChange[];
  }
  interface EventNeeds {
    /** Users in the event, which contains less data for guests who cannot see them. */
    readonly userIds?: readonly UserId[];
    /** Users with an email that may be visible to the receiver in the new or the previous role. */
    readonly addresses?: { readonly userIds: readonly UserId[]; readonly before: Role };
    /** Users who may be or may have been visible to a guest. */
    readonly access?: {
      readonly userIds: readonly UserId[];
      readonly before: EventSeq;
      readonly reach?: Reach | undefined;
    };
  }
}

export interface AddressChange {
  readonly user: User;
  readonly isSeen: boolean;
}

export const atLeast = (role: Role): Audience => ({ kind: 'role', atLeast: role });
export const limitedGuests: Audience = { kind: 'limitedGuests' };
export const accessorsOf = (userId: UserId): Audience => ({ kind: 'accessors', userId });

export const USER_AUDIENCES: AudienceRules<'role' | 'accessors' | 'limitedGuests'> = {
  role: {
    isValid: ({ atLeast: role }) => ROLES.includes(role as Role),
    includes: ({ atLeast: role }, member) => member.hasRole(role),
  },
  accessors: {
    isValid: ({ userId }) => isId(userId),
    includes: ({ userId }, member) => !member.isLimitedGuest() || member.knows(userId),
    questions: ({ userId }) => ({ userIds: [userId] }),
  },
  limitedGuests: { isValid: () => true, includes: (_, member) => member.isLimitedGuest() },
};

type UserMembership = Pick<Membership, 'hasRole' | 'isLimitedGuest' | 'knows'>;

const membership = (
  candidate: LiveCandidate | ReplayedCandidate,
  isLimited: UserMembership['isLimitedGuest'],
): UserMembership => ({
  hasRole: (minimum) => isAtLeast(candidate.user.role, minimum),
  isLimitedGuest: isLimited,
  // Users without a result stay hidden from the receiver.
  knows: (userId) => candidate.results.inaccessible.get(candidate.user.userId)?.has(userId) === false,
});

export const replayedUser = (candidate: ReplayedCandidate): UserMembership =>
  membership(candidate, () => candidate.user.isLimitedGuest);

/** Returns null if there is no such active user. */
export async function loadUserRights(
  { users, actors, realms }: Repositories,
  realmId: RealmId,
  userId: UserId,
): Promise<Omit<QueueOwner, 'userId'> | null> {
  const user = await users.find(realmId, userId);
  if (!user?.isActive) return null;
  const actor = await actors.get({ realmId, userId });
  return { role: user.role, isLimitedGuest: isLimitedGuest(actor, await realms.get(realmId)) };
}

export const loadUserSnapshot = async (
  { realms }: Repositories,
  realmId: RealmId,
): Promise<Pick<RealmSnapshot, 'permissions'>> => ({ permissions: (await realms.get(realmId)).permissions });

/** Returns the requested users hidden from each guest. */
export const findInaccessible = async (
  repositories: Repositories,
  realmId: RealmId,
  { userIds = [] }: AudienceQuestions,
  { guestIds }: LookupUsers,
): Promise<Pick<AudienceResults, 'inaccessible'>> => ({
  inaccessible: await inaccessibleUserIdsByGuest(repositories, realmId, guestIds, userIds),
});

/** Returns the queue owner if visibility must be checked for them. */
export const lookupGuest = (
  { userId, isLimitedGuest: isLimited }: QueueOwnerRights,
  { userIds = [] }: AudienceQuestions,
): Pick<LookupUsers, 'guestIds'> => ({ guestIds: isLimited && userIds.length > 0 ? [userId] : [] });

/** Roles of online users, including which of them are limited guests. */
export class UserProjection implements LiveProjection {
  private readonly guests = new Set<OnlineUser>();
  private permissions: Realm['permissions'];

  constructor(
    snapshot: Pick<RealmSnapshot, 'permissions'>,
    private readonly users: ReadonlyMap<UserId, OnlineUser>,
    private readonly groups: Pick<GroupProjection, 'groupsOf'>,
  ) {
    this.permissions = snapshot.permissions;
  }

  readonly members: AudienceMembers<'limitedGuests'> = { limitedGuests: () => new Set(this.limitedGuests()) };

  add(user: OnlineUser): void {
    if (user.role === 'guest') this.guests.add(user);
    else this.guests.delete(user);
  }

  remove(user: OnlineUser): void {
    this.guests.delete(user);
  }

  fold(event: DomainEvent): void {
    if (event.type === 'realm.permission_changed') {
      this.permissions = { ...this.permissions, [event.permission]: event.groupId };
    }
    if (event.type !== 'user.role_changed') return;
    const user = this.users.get(event.userId);
    if (!user) return;
    user.role = event.role;
    this.add(user);
  }

  membershipOf(candidate: LiveCandidate): UserMembership {
    return membership(candidate, () => this.isLimitedGuest(candidate.user));
  }

  ownerOf(user: OnlineUser): QueueOwner {
    return { userId: user.userId, role: user.role, isLimitedGuest: this.isLimitedGuest(user) };
  }

  /** True if any of these users may be hidden from an online guest. */
  concerns({ userIds = [] }: AudienceQuestions): boolean {
    return userIds.length > 0 && this.limitedGuests().length > 0;
  }

  lookupUsers(): Pick<LookupUsers, 'guestIds'> {
    return { guestIds: this.limitedGuests().map(({ userId }) => userId) };
  }

  private limitedGuests(): OnlineUser[] {
    return [...this.guests].filter((guest) => this.isLimitedGuest(guest));
  }

  private isLimitedGuest({ userId, role }: OnlineUser): boolean {
    return (
      role === 'guest' &&
      isLimitedGuest({ role, groups: this.groups.groupsOf(userId) }, { permissions: this.permissions })
    );
  }
}

/** Returns the user signed out by the event and the reason, or null. */
export function signedOutUserIn(event: DomainEvent): SignedOut | null {
  if (event.type === 'user.api_key_replaced' || event.type === 'user.sessions_ended')
    return { userId: event.userId, reason: null };
  if (event.type !== 'user.activation_changed' || event.isActive) return null;
  return { userId: event.userId, reason: accountDeactivated() };
}

type UserReceiver = Pick<Receiver, 'role' | 'inaccessible' | 'gained' | 'lost' | 'addressChanges'>;

const NOTHING: Omit<UserReceiver, 'role'> = {
  inaccessible: new Set(),
  gained: [],
  lost: [],
  addressChanges: [],
};

export const userReceiver = ({ role }: QueueOwner): UserReceiver => ({ role, ...NOTHING });

/** True if the event differs for receivers who are or were limited guests. */
export const needsUsers = (
  { userIds, access, addresses }: EventNeeds,
  { isLimitedGuest: isLimited }: QueueOwner,
): boolean => access !== undefined || addresses !== undefined || (isLimited && userIds !== undefined);

/** True if the event gave the user access to all users, or took it away. Only guests are limited. */
export const isReachChangeOf = (event: DomainEvent, { role }: QueueOwnerRights): boolean =>
  event.type === 'user.access_changed' && event.reach !== undefined && role === 'guest';

/** Returns receivers in the order of the requests. Runs a constant number of statements. */
export async function loadUserReceivers(
  repositories: Repositories,
  realmId: RealmId,
  requests: readonly ReceiverRequest[],
): Promise<readonly UserReceiver[]> {
  const guests = requests.filter(({ owner }) => owner.isLimitedGuest);
  const named = unique(guests.flatMap(({ needs }) => needs.userIds ?? []));
  const namedTo = unique(guests.flatMap(({ owner, needs }) => (needs.userIds ? [owner.userId] : [])));
  const inaccessible = await inaccessibleUserIdsByGuest(repositories, realmId, namedTo, named);

  const changing = requests.filter(({ owner, needs, seq }) => needs.access && seq !== null && needsUsers(needs, owner));
  const changes = await accessChanges(
    repositories,
    realmId,
    changing.map(({ owner, needs, seq }) => ({ guestId: owner.userId, ...needs.access!, at: seq! })),
  );
  const changeOf = new Map(changing.map((request, index) => [request, changes[index]!]));

  const shown = unique(requests.flatMap(({ needs }) => needs.addresses?.userIds ?? []));
  const people = shown.length === 0 ? [] : await repositories.users.list(realmId, shown);

  return requests.map((request) => {
    const { owner, needs } = request;
    return {
      ...userReceiver(owner),
      ...(owner.isLimitedGuest && { inaccessible: inaccessible.get(owner.userId) ?? NOTHING.inaccessible }),
      ...changeOf.get(request),
      ...(needs.addresses && { addressChanges: addressChanges(owner, needs.addresses, people) }),
    };
  });
}

function addressChanges(
  { userId, role }: QueueOwner,
  { userIds, before }: NonNullable<EventNeeds['addresses']>,
  people: readonly User[],
): readonly AddressChange[] {
  const named = new Set(userIds);
  return people.flatMap((user) => {
    const [saw, isSeen] = [canSeeEmail({ id: userId, role: before }, user), canSeeEmail({ id: userId, role }, user)];
    return saw !== isSeen && named.has(user.id) ? [{ user, isSeen }] : [];
  });
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Publishes consent to export private data to administrators (organization §8). Bots have no such setting. */
export async function announceExportConsent(tx: Transaction, { id, realmId, bot, settings }: User): Promise<void> {
  if (bot) return;
  await tx.events.append(realmId, {
    event: { type: 'user.export_consent_changed', userId: id, isGiven: settings.allowPrivateDataExport },
    audience: atLeast('administrator'),
  });
}
