import { type Decision, denyIf, enforce, type RealmId, type UserId } from '@parley/domain';

/** Roles as gates see them. */
export type Role = 'owner' | 'administrator' | 'moderator' | 'member' | 'guest';

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
  owner: ({ role }) => denyIf(role !== 'owner', 'MUST_BE_OWNER', 'Must be an organization owner'),
  administrator: ({ role }) =>
    denyIf(
      role !== 'owner' && role !== 'administrator',
      'MUST_BE_ADMINISTRATOR',
      'Must be an organization administrator',
    ),
  member: ({ role }) => denyIf(role === 'guest', 'NOT_PERMITTED', 'Not allowed for guest users'),
  human: ({ isBot }) => denyIf(isBot, 'NOT_PERMITTED', 'This endpoint does not accept bot requests.'),
  bot: ({ isBot }) => denyIf(!isBot, 'MUST_BE_BOT', 'Must be a bot user'),
};

/** @throws DomainError of the first gate that is shut. */
export function pass(gates: readonly Gate[], standing: Standing): void {
  for (const gate of gates) enforce(RULES[gate](standing));
}
