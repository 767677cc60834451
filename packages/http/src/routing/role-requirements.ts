import {
  type Decision,
  enforce,
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
  type RealmId,
  type Role,
  type UserId,
} from '@parley/domain';

/** What role requirements ask about a caller. */
export interface CallerRole {
  readonly role: Role;
  readonly isBot: boolean;
}

/** Looks up who is calling, for the few operations that refuse by role before they look at parameters. */
export interface RoleLookup {
  roleOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<CallerRole>;
}

/**
 * `administrator`: or owner. `member`: anyone but guests. `human`: no bots. `bot`: only bots.
 * These come before the parameters; a role that matters only for some of them is a permission rule of the use case.
 */
export type RoleRequirement = 'owner' | 'administrator' | 'member' | 'human' | 'bot';

const RULES: { readonly [G in RoleRequirement]: (callerRole: CallerRole) => Decision } = {
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
  human: mustBeHuman,
  bot: mustBeBot,
};

/** @throws DomainError of the first requirement that is not met. */
export function enforceRoles(roleRequirements: readonly RoleRequirement[], callerRole: CallerRole): void {
  for (const requirement of roleRequirements) enforce(RULES[requirement](callerRole));
}
