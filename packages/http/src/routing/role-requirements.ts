import { canChangeDefaultChannels } from '@parley/domain/channels';
import { mustSynchronizeDrafts } from '@parley/domain/drafts';
import { type Decision, enforce, type RealmId, type UserId } from '@parley/domain/shared';
import {
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
  type Role,
} from '@parley/domain/users';

/** What role requirements ask about a caller. */
export interface CallerRole {
  readonly role: Role;
  readonly isBot: boolean;
  readonly synchronizesDrafts: boolean;
}

/** Looks up who is calling, for the few operations that refuse by role before they look at parameters. */
export interface RoleLookup {
  roleOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<CallerRole>;
}

/**
 * `administrator`: or owner. `member`: anyone but guests. `human`: no bots. `bot`: only bots.
 * `synchronizesDrafts`: whoever keeps drafts on the server. `changesDefaultChannels`: administrators, refused in words of their own.
 * These come before the parameters; a role that matters only for some of them is a permission rule of the use case.
 */
export type RoleRequirement =
  | 'owner'
  | 'administrator'
  | 'member'
  | 'human'
  | 'bot'
  | 'synchronizesDrafts'
  | 'changesDefaultChannels';

const RULES: { readonly [G in RoleRequirement]: (callerRole: CallerRole) => Decision } = {
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
  human: mustBeHuman,
  bot: mustBeBot,
  changesDefaultChannels: canChangeDefaultChannels,
  synchronizesDrafts: ({ synchronizesDrafts }) =>
    mustSynchronizeDrafts({ settings: { enableDraftsSynchronization: synchronizesDrafts } }),
};

/** @throws DomainError of the first requirement that is not met. */
export function enforceRoles(roleRequirements: readonly RoleRequirement[], callerRole: CallerRole): void {
  for (const requirement of roleRequirements) enforce(RULES[requirement](callerRole));
}
