import './status-errors.js';
import type { Emoji } from '../files/emoji.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { User } from './user.js';

/** What somebody says of what they are doing (users §7). */
export interface UserStatus {
  /** Empty: nothing. */
  readonly text: string;
  readonly emoji: Emoji | null;
}

/** The same with whether they want to be seen at all. */
export interface ShownStatus extends UserStatus {
  readonly isAway: boolean;
}

export const NO_STATUS: UserStatus = { text: '', emoji: null };

/** In code points. */
export const MAX_STATUS_TEXT_LENGTH = 60;

export const shownStatus = (status: UserStatus, { settings }: Pick<User, 'settings'>): ShownStatus => ({
  ...status,
  isAway: !settings.presenceEnabled,
});

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    statuses: [reads: StatusReads, repository: StatusRepository];
  }
}

export interface StatusReads {
  /** Null for who has never set any. */
  find(realmId: RealmId, userId: UserId): Promise<UserStatus | null>;
  /** Of everybody who has ever set one; ascending user. */
  list(realmId: RealmId): Promise<ReadonlyMap<UserId, UserStatus>>;
}

/** Every implementation passes status-repository.contract.ts. */
export interface StatusRepository extends StatusReads {
  put(realmId: RealmId, userId: UserId, status: UserStatus): Promise<void>;
}
