import type { UserId } from '../shared/ids.js';
import type { Role } from './role.js';
import type { User } from './user.js';

/** `emailAddressVisibility` of the user's settings (users §1.2). */
export const EMAIL_VISIBILITY = { everyone: 1, members: 2, administrators: 3, nobody: 4, moderators: 5 } as const;

const VISIBLE_TO: Readonly<Record<Role, readonly number[]>> = {
  owner: [1, 2, 3, 5],
  administrator: [1, 2, 3, 5],
  moderator: [1, 2, 5],
  member: [1, 2],
  guest: [1],
};

/** Which settings of other people let somebody of this role see their address; for queries that search by address. */
export const visibleEmailSettings = (role: Role): readonly number[] => VISIBLE_TO[role];

type Addressed = Pick<User, 'id' | 'email' | 'bot'> & {
  readonly settings: Pick<User['settings'], 'emailAddressVisibility'>;
};

/** The user's own setting; bots hide nothing. */
export const emailVisibilityOf = (user: Pick<Addressed, 'bot' | 'settings'>): number =>
  user.bot === null ? user.settings.emailAddressVisibility : EMAIL_VISIBILITY.everyone;

/** Whether everybody sees the address, guests too. */
export const isEmailPublic = (user: Addressed): boolean => emailVisibilityOf(user) === EMAIL_VISIBILITY.everyone;

/** What of a user decides who sees their address. */
export interface EmailOwner {
  readonly id: UserId;
  /** As `emailVisibilityOf` answers. */
  readonly emailVisibility: number;
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
