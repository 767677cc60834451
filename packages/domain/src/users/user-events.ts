import type { Role } from '../access/role.js';
import type { FeatureParts } from '../kernel/event.js';
import type { EventSeq, UserId } from '../kernel/ids.js';
import type { Reach } from './accessible-users.js';
import type { User } from './user.js';

export interface UserEventTypes {
  /** To everybody. */
  'user.created': { readonly user: User };
  /** To everybody who may know the user. */
  'user.role_changed': { readonly userId: UserId; readonly role: Role };
  /** To everybody who may know the user; the user as they are afterwards. Sent only to those who see the address. */
  'user.email_changed': { readonly user: User };
  /** To everybody who may know the user; the user as they are afterwards. */
  'user.avatar_changed': { readonly user: User };
  /**
   * To somebody whose role changed: by that they came to see addresses of some of these users, or see them no longer.
   * `before`: what their role was.
   */
  'user.addresses_seen': { readonly userIds: readonly UserId[]; readonly before: Role };
  /** To everybody who may know the user; a deactivated user's queues end. */
  'user.activation_changed': { readonly userId: UserId; readonly isActive: boolean };
  /**
   * To guests who may not know everybody: whether they know these users was decided anew (users §1.4). What it was before
   * is what held at `before`, a seq. Names at most `MAX_USERS_PER_ACCESS_CHANGE` users. `reach`: they came to know everybody,
   * or know everybody no longer; absent: they do not, before and after.
   */
  'user.access_changed': { readonly userIds: readonly UserId[]; readonly before: EventSeq; readonly reach?: Reach };
  /** To administrators: whether exports may hold what is private to the user; of newcomers and those who come back, too. */
  'user.export_consent_changed': { readonly userId: UserId; readonly isGiven: boolean };
  /** To nobody: who had the key before is signed out, and their queues end. */
  'user.api_key_replaced': { readonly userId: UserId };
  /** To nobody: whoever keeps keys at hand forgets this user's. */
  'user.credentials_changed': { readonly userId: UserId };
  /** To nobody: some of the user's browser sessions are no more. */
  'user.sessions_ended': { readonly userId: UserId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends UserEventTypes {}
}

export const USER_FEATURE = {
  eventFormats: {
    'user.created': 2,
    'user.role_changed': 1,
    'user.email_changed': 1,
    'user.avatar_changed': 1,
    'user.addresses_seen': 1,
    'user.activation_changed': 1,
    'user.access_changed': 1,
    'user.export_consent_changed': 1,
    'user.api_key_replaced': 1,
    'user.credentials_changed': 1,
    'user.sessions_ended': 1,
  },
  notExported: {
    actors: 'They follow from users and groups.',
  },
} satisfies FeatureParts<UserEventTypes>;
