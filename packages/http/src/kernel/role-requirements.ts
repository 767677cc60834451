import {
  mustBeAdministrator,
  mustBeBot,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
  type Role,
} from '@parley/domain/access';
import { canChangeDefaultChannels } from '@parley/domain/channels';
import { type Decision, enforce, type RealmId, type UserId } from '@parley/domain/kernel';
import { mustSynchronizeDrafts } from '@parley/domain/messages';
import type { Identity } from './authenticate.js';

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

/** They never change: whoever proved who they are may have proved this too. */
const BY_KIND = { human: mustBeHuman, bot: mustBeBot };

const RULES: { readonly [G in RoleRequirement]: (callerRole: CallerRole) => Decision } = {
  ...BY_KIND,
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
  changesDefaultChannels: canChangeDefaultChannels,
  synchronizesDrafts: ({ synchronizesDrafts }) =>
    mustSynchronizeDrafts({ settings: { enableDraftsSynchronization: synchronizesDrafts } }),
};

/** Looks nothing up that the caller has proved. @throws DomainError of the first requirement that is not met. */
export async function enforceRoles(
  roleRequirements: readonly RoleRequirement[],
  identity: Identity,
  lookup: RoleLookup,
): Promise<void> {
  const { botKind } = identity;
  let callerRole: CallerRole | undefined;
  for (const requirement of roleRequirements) {
    if (botKind !== undefined && (requirement === 'human' || requirement === 'bot')) {
      enforce(BY_KIND[requirement]({ isBot: botKind !== null }));
    } else {
      callerRole ??= await lookup.roleOf(identity);
      enforce(RULES[requirement](callerRole));
    }
  }
}
