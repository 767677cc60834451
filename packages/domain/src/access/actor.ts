import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import { type Decision, denyIf } from '../kernel/permission.js';
import { isAtLeast, type Role } from './roles.js';

/** Acting user with all data that permission rules need. */
export interface Actor {
  readonly id: UserId;
  readonly realmId: RealmId;
  readonly role: Role;
  readonly isBot: boolean;
  readonly botOwnerId: UserId | null;
  /** Transitive closure of group membership, including anonymous groups. */
  readonly groups: ReadonlySet<GroupId>;
}

export const isGuest = (actor: Pick<Actor, 'role'>): boolean => actor.role === 'guest';
export const isAdministrator = (actor: Pick<Actor, 'role'>): boolean => isAtLeast(actor.role, 'administrator');
export const isOwner = (actor: Pick<Actor, 'role'>): boolean => actor.role === 'owner';

/** Reads permissions as of the current unit of work, which may differ from login time. */
export interface UserInRealm {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

export interface ActorReads {
  /** @throws DomainError USER_DEACTIVATED if the user was deactivated in the meantime */
  get(caller: UserInRealm): Promise<Actor>;
  /**
   * Returns the author of an accepted request, whose remaining parts need no permission. A deactivated author keeps the
   * groups of an active one.
   * @throws DomainError USER_DEACTIVATED if the user is unknown
   */
  getAuthor(caller: UserInRealm): Promise<Actor>;
  /** Loads several actors, for example bot owners. Unknown and deactivated users are absent. */
  list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    actors: [reads: ActorReads, repository: ActorReads];
  }
}

/** Role checks that precede all other rules (users §0, organization §1). */
export const mustBeOwner = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isOwner(actor), 'MUST_BE_OWNER', 'Must be an organization owner');

/** Owners count as administrators. */
export const mustBeAdministrator = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isAdministrator(actor), 'MUST_BE_ADMINISTRATOR', 'Must be an organization administrator');

export const mustNotBeGuest = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(isGuest(actor), 'MUST_NOT_BE_GUEST', 'Not allowed for guest users');

export const mustBeHuman = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(actor.isBot, 'MUST_NOT_BE_BOT', 'This endpoint does not accept bot requests.');

export const mustBeBot = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(!actor.isBot, 'MUST_BE_BOT', 'Must be a bot user');

/** Generic denial for rules without a specific message. */
export const insufficientUnless = (granted: boolean): Decision =>
  denyIf(!granted, 'NOT_PERMITTED', 'Insufficient permission');
