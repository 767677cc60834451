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

/** What gates ask about a caller. */
export interface Standing {
  readonly role: Role;
  readonly isBot: boolean;
}

/** Looks up who is calling, for the few operations that refuse by role before they look at parameters. */
export interface Gatekeeper {
  standingOf(caller: { readonly realmId: RealmId; readonly userId: UserId }): Promise<Standing>;
}

/**
 * `administrator`: or owner. `member`: anyone but guests. `human`: no bots. `bot`: only bots.
 * These come before the parameters; a role that matters only for some of them is a permission rule of the use case.
 */
export type Gate = 'owner' | 'administrator' | 'member' | 'human' | 'bot';

const RULES: { readonly [G in Gate]: (standing: Standing) => Decision } = {
  owner: mustBeOwner,
  administrator: mustBeAdministrator,
  member: mustNotBeGuest,
  human: mustBeHuman,
  bot: mustBeBot,
};

/** @throws DomainError of the first gate that is shut. */
export function pass(gates: readonly Gate[], standing: Standing): void {
  for (const gate of gates) enforce(RULES[gate](standing));
}
