import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import { type Decision, denyIf } from '../kernel/permission.js';
import { isAtLeast, type Role } from './roles.js';

/** Whoever asks for something, with all that permission rules read about them. */
export interface Actor {
  readonly id: UserId;
  readonly realmId: RealmId;
  readonly role: Role;
  readonly isBot: boolean;
  readonly botOwnerId: UserId | null;
  /** Every group, named or not, that they are in directly or through subgroups: the transitive closure. */
  readonly groups: ReadonlySet<GroupId>;
}

export const isGuest = (actor: Pick<Actor, 'role'>): boolean => actor.role === 'guest';
export const isAdministrator = (actor: Pick<Actor, 'role'>): boolean => isAtLeast(actor.role, 'administrator');
export const isOwner = (actor: Pick<Actor, 'role'>): boolean => actor.role === 'owner';

/** Rights as of the unit they are loaded in, not as of the log-in. */
export interface ActorReads {
  /** @throws DomainError USER_DEACTIVATED when they were deactivated meanwhile. */
  get(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<Actor>;
  /** Several at once, bots' owners for example; those who do not exist or are deactivated are absent. */
  list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    actors: [reads: ActorReads, repository: ActorReads];
  }
}

/** Who may ask at all, whatever for (users §0, organization §1). */
export const mustBeOwner = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isOwner(actor), 'MUST_BE_OWNER', 'Must be an organization owner');

/** Owners are administrators too. */
export const mustBeAdministrator = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(!isAdministrator(actor), 'MUST_BE_ADMINISTRATOR', 'Must be an organization administrator');

export const mustNotBeGuest = (actor: Pick<Actor, 'role'>): Decision =>
  denyIf(isGuest(actor), 'MUST_NOT_BE_GUEST', 'Not allowed for guest users');

export const mustBeHuman = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(actor.isBot, 'MUST_NOT_BE_BOT', 'This endpoint does not accept bot requests.');

export const mustBeBot = (actor: Pick<Actor, 'isBot'>): Decision =>
  denyIf(!actor.isBot, 'MUST_BE_BOT', 'Must be a bot user');

/** The refusal of whatever has no text of its own. */
export const insufficientUnless = (granted: boolean): Decision =>
  denyIf(!granted, 'NOT_PERMITTED', 'Insufficient permission');
