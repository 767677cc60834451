import type { EventSeq, RealmId, UserId } from '../kernel/ids.js';
import type { SystemBotKind, User } from './user.js';

/** A user's place in a wide list; the full user is fetched only where no cached form of this version is at hand. */
export interface UserListEntry {
  readonly id: UserId;
  readonly version: number;
  readonly isActive: boolean;
}

/** Whether a guest shares a channel or a direct conversation with a user. */
export interface ConversationPartnerQuestion {
  readonly guestId: UserId;
  readonly userId: UserId;
  /** As of this event; null: now. */
  readonly at: EventSeq | null;
}

export interface UserReads {
  /** Users of the realm only; its system bots are found by `findSystemBot` and by `list`. Null when there is none. */
  find(realmId: RealmId, id: UserId): Promise<User | null>;
  /** By the address they sign in with, whatever its letter case; bots and deactivated users too, system bots not. */
  findByEmail(realmId: RealmId, email: string): Promise<User | null>;
  /** System bots too; unknown ids are absent; ascending id. */
  list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]>;
  /** Of these, whoever is active; bots too, system bots not; ascending. */
  listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]>;
  /** By the address they sign in with, trimmed and whatever the letter case; system bots too; unknown ones are absent. */
  listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]>;
  /** Of these names, whatever the letter case; bots and system bots too; ascending id. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]>;
  /** Everybody, deactivated users and bots included, system bots not; ascending id. */
  listEntries(realmId: RealmId): Promise<readonly UserListEntry[]>;
  /** Ascending id. */
  listSystemBots(realmId: RealmId): Promise<readonly User[]>;
  findSystemBot(realmId: RealmId, kind: SystemBotKind): Promise<User>;
  /** Whether another user of the realm has this name in its NFKC case-folded form; bots and deactivated users count. */
  isNameTaken(realmId: RealmId, fullName: string, except: UserId | null): Promise<boolean>;
  /**
   * Whoever is active and shares a channel with the user, and whoever, active or not, is in a direct conversation with them.
   */
  listConversationPartners(realmId: RealmId, id: UserId): Promise<ReadonlySet<UserId>>;
  /** In the order of the questions; one statement for all of them. What is so now is what `listConversationPartners` says. */
  areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]>;
  /** People who get every notice of a resolved topic unread (messages §9.6); ascending. */
  listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]>;
  /** Of the realm's bots, system bots not; ascending. */
  listBotIds(realmId: RealmId): Promise<readonly UserId[]>;
  /** Null when no password is set. */
  findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null>;
}

/** Every implementation passes user-repository.contract.ts. */
export interface UserRepository extends UserReads {
  /** `version` starts at 1. @throws DomainError EMAIL_TAKEN when the address is taken. */
  add(user: Omit<User, 'id' | 'version'>, passwordHash: string | null, systemKind?: SystemBotKind): Promise<User>;
  /** Stores the user under a higher version. */
  update(user: User): Promise<User>;
  setPasswordHash(realmId: RealmId, id: UserId, hash: string | null): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    users: [reads: UserReads, repository: UserRepository];
  }
}
