import type { Role } from '../access/roles.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { foldCase, isLongerThan, isShorterThan, positionOfUnprintable, trim } from '../kernel/text.js';
import type { UserSettingName, UserSettings } from '../realms/user-settings.js';

export type BotKind = 'generic' | 'incomingWebhook' | 'outgoingWebhook' | 'embedded';
/** What the operator grants beyond roles. */
export type SpecialPermission = 'canCreateUsers' | 'canChangeUserEmails';
export type AvatarSource = 'gravatar' | 'uploaded' | 'generated';

/** A person or a bot of one realm. */
export interface User {
  readonly id: UserId;
  readonly realmId: RealmId;
  /** The address they sign in with and mail goes to, as they wrote it; unique in the realm whatever the letter case. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  /** Their profile was deleted with the account (users §4.1); only of those who are not active. */
  readonly isDeleted: boolean;
  readonly joinedAt: UnixSeconds;
  /** Null for people. */
  readonly bot: Bot | null;
  readonly avatar: Avatar;
  readonly specialPermissions: readonly SpecialPermission[];
  readonly settings: UserSettings;
  /** Those they have ever changed themselves; administrators may leave them alone (users §6.3). */
  readonly editedSettings: readonly UserSettingName[];
  /** Grows with every change of what others can see of them. */
  readonly version: number;
}

export interface Bot {
  readonly kind: BotKind;
  /** Null for bots of the system, which belong to nobody. */
  readonly ownerId: UserId | null;
  /** One of the realm's own bots: notices, welcome, mail gateway. Not a member of the realm. */
  readonly isSystem: boolean;
  readonly defaultSendingChannelId: number | null;
}

/** `version`: starts at 1, and grows with every change. */
export type Avatar = DerivedAvatar | UploadedAvatar;

/** Follows from the address, or from the id. */
export interface DerivedAvatar {
  readonly source: Exclude<AvatarSource, 'uploaded'>;
  readonly version: number;
}

export interface UploadedAvatar {
  readonly source: 'uploaded';
  readonly version: number;
  /** What its pictures are called by: 32 hexadecimal digits that nobody can guess. */
  readonly key: string;
}

/** How the realm's own bots are distinguished by the part of their address before the `@`. */
export const SYSTEM_BOTS = [
  { kind: 'notification', localPart: 'notification-bot', fullName: 'Notification Bot' },
  { kind: 'welcome', localPart: 'welcome-bot', fullName: 'Welcome Bot' },
  { kind: 'mailGateway', localPart: 'emailgateway', fullName: 'Email Gateway' },
] as const;
export type SystemBotKind = (typeof SYSTEM_BOTS)[number]['kind'];

/** In code points (protocol §14). */
const MAX_NAME_LENGTH = 100;
const MIN_NAME_LENGTH = 2;
/** For names that the operator or the host application gives: there are people whose name has one letter. */
export const SHORTEST_GIVEN_NAME = 1;

/** Returns the name trimmed. @throws DomainError INVALID_USER_NAME with the texts of users §3.3, in their order. */
export function parseFullName(raw: string, shortest = MIN_NAME_LENGTH): string {
  const name = trim(raw);
  if (isLongerThan(name, MAX_NAME_LENGTH)) throw new DomainError('INVALID_USER_NAME', 'Name too long!');
  if (isShorterThan(name, shortest)) throw new DomainError('INVALID_USER_NAME', 'Name too short!');
  if (/[*`\\>"@]/.test(name) || positionOfUnprintable(name) > 0)
    throw new DomainError('INVALID_USER_NAME', 'Invalid characters in name!');
  // `name|12` would read as a mention of user 12.
  if (/\|\d+$/.test(raw)) throw new DomainError('INVALID_USER_NAME', 'Invalid format!');
  return name;
}

/**
 * The form in which names are compared where the organization wants them unique. Folding may undo what NFKC did, so it
 * comes in between.
 */
export const foldedName = (name: string): string => foldCase(name.normalize('NFKC')).normalize('NFKC');

/** Words of letters, digits and what may stand between them, joined by single dots (RFC 5321 without quotes). */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two labels or more; the last one no number and no single letter. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d][a-z\d-]{0,61}[a-z\d]$/i;
const MAX_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;

/** Whether it can be an address, as sign-up forms ask: such as mail servers anywhere take. */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > MAX_LENGTH || at > MAX_LOCAL_LENGTH) return false;
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && DOMAIN.test(text.slice(at + 1));
}

export const USER_ERRORS = declareErrors({
  /** The caller. */
  USER_DEACTIVATED: 'unauthenticated',
  /** Somebody the request names. */
  NAMED_USER_DEACTIVATED: 'conflict',
  UNKNOWN_USER: 'unknown',
  UNKNOWN_BOT: 'unknown',
  /** One that only operators grant. */
  SPECIAL_PERMISSION_REQUIRED: 'forbidden',
  INVALID_USER_NAME: 'invalid',
  /** Where the organization wants names unique. */
  USER_NAME_TAKEN: 'conflict',
  BOT_NAME_TAKEN: 'conflict',
  INVALID_EMAIL: 'invalid',
  EMAIL_TAKEN: 'conflict',
  EMAIL_OF_DEACTIVATED_USER: 'conflict',
  /** For bots of the system. */
  EMAIL_RESERVED: 'conflict',
  /** By the rules of the organization on addresses. */
  EMAIL_NOT_ALLOWED: 'forbidden',
  EMAIL_CHANGES_DISABLED: 'forbidden',
  AVATAR_CHANGES_DISABLED: 'forbidden',
  LAST_OWNER: 'conflict',
  CANNOT_DEACTIVATE_LAST_USER: 'conflict',
  GUEST_CANNOT_ADMINISTER: 'conflict',
  BOT_CANNOT_OWN_BOTS: 'conflict',
  /** Neither users nor groups are named. */
  NO_TARGET_USERS: 'invalid',
  /** Only users themselves change it. */
  SETTING_NOT_FOR_OTHERS: 'forbidden',
});

type UserErrors = typeof USER_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends UserErrors {}

  interface ErrorDetails {
    /** `entity`: what they are the last of. */
    CANNOT_DEACTIVATE_LAST_USER: { readonly isLastOwner: boolean; readonly entity: string };
  }
}

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
