import type { Role } from '../access/role.js';
import type { UserId } from '../kernel/ids.js';
import type { EmailVisibility } from '../realms/user-settings.js';
import type { User } from './user.js';

const VISIBLE_TO: Readonly<Record<Role, readonly EmailVisibility[]>> = {
  owner: ['everyone', 'members', 'administrators', 'moderators'],
  administrator: ['everyone', 'members', 'administrators', 'moderators'],
  moderator: ['everyone', 'members', 'moderators'],
  member: ['everyone', 'members'],
  guest: ['everyone'],
};

/** Which settings of other people let somebody of this role see their address; for queries that search by address. */
export const visibleEmailSettings = (role: Role): readonly EmailVisibility[] => VISIBLE_TO[role];

type Addressed = Pick<User, 'id' | 'email' | 'bot'> & {
  readonly settings: Pick<User['settings'], 'emailAddressVisibility'>;
};

/** The user's own setting; bots hide nothing. */
export const emailVisibilityOf = (user: Pick<Addressed, 'bot' | 'settings'>): EmailVisibility =>
  user.bot === null ? user.settings.emailAddressVisibility : 'everyone';

/** Whether everybody sees the address, guests too. */
export const isEmailPublic = (user: Addressed): boolean => emailVisibilityOf(user) === 'everyone';

/** What of a user decides who sees their address. */
export interface EmailOwner {
  readonly id: UserId;
  /** As `emailVisibilityOf` answers. */
  readonly emailVisibility: EmailVisibility;
}

/** Everybody sees their own. */
export function seesEmailOf(
  viewer: { readonly id: UserId; readonly role: Role },
  { id, emailVisibility }: EmailOwner,
): boolean {
  return viewer.id === id || VISIBLE_TO[viewer.role].includes(emailVisibility);
}

export const canSeeEmail = (viewer: { readonly id: UserId; readonly role: Role }, user: Addressed): boolean =>
  seesEmailOf(viewer, { id: user.id, emailVisibility: emailVisibilityOf(user) });

/** Sic: nobody finds themselves by an address that they hide from their own role (users §2). */
export function canFindByEmail(viewer: { readonly role: Role }, user: Addressed): boolean {
  return VISIBLE_TO[viewer.role].includes(emailVisibilityOf(user));
}

/** The address as this viewer sees it; null: not at all. */
export function visibleEmail(viewer: { readonly id: UserId; readonly role: Role }, user: Addressed): string | null {
  return canSeeEmail(viewer, user) ? user.email : null;
}

/** What stands for the user wherever an address is needed, the same for every viewer: their own where all may see it. */
export function publicAddress(user: Addressed, host: string): string {
  return isEmailPublic(user) ? user.email : dummyAddress(user.id, host);
}

export const dummyAddress = (id: UserId, host: string): string => `user${id}@${host}`;
