import type { Role } from '../access/roles.js';
import type { Emoji } from '../files/emoji.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Seed } from '../kernel/ports.js';
import { foldCase, isLongerThan, isShorterThan, positionOfUnprintable, takeCodePoints, trim } from '../kernel/text.js';
import type { UserSettingName, UserSettings } from '../realms/user-settings.js';

export type BotKind = 'generic' | 'incomingWebhook' | 'outgoingWebhook' | 'embedded';
/** Permissions granted by the operator in addition to roles. */
export const SPECIAL_PERMISSIONS = ['canCreateUsers', 'canChangeUserEmails', 'canHoldMessages'] as const;
export type SpecialPermission = (typeof SPECIAL_PERMISSIONS)[number];
export type AvatarSource = 'gravatar' | 'uploaded' | 'generated';

/** Human or bot of one realm. */
export interface User {
  readonly id: UserId;
  readonly realmId: RealmId;
  /** Email for login and notifications as entered; unique in the realm case-insensitively. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  /** True if the profile was deleted with the account (users §4.1); only for inactive users. */
  readonly isDeleted: boolean;
  readonly joinedAt: UnixSeconds;
  /** Null for humans. */
  readonly bot: Bot | null;
  readonly avatar: Avatar;
  readonly specialPermissions: readonly SpecialPermission[];
  readonly settings: UserSettings;
  /** Settings the user has ever changed; administrators may skip them in bulk changes (users §6.3). */
  readonly editedSettings: readonly UserSettingName[];
  /** Id in the host application; absent if none was assigned. Permanent, unique in the realm, compared exactly. */
  readonly externalId?: string;
  /** Incremented with every change visible to others. */
  readonly version: number;
}

export interface Bot {
  readonly kind: BotKind;
  /** Null for system bots, which have no owner. */
  readonly ownerId: UserId | null;
  /** True for system bots of the realm: notification, welcome and email gateway. They are not members of the realm. */
  readonly isSystem: boolean;
  readonly defaultSendingChannelId: number | null;
}

/** `version` starts at 1 and increases with every change. */
export type Avatar = DerivedAvatar | UploadedAvatar;

/** Avatar derived from the email or id. */
export interface DerivedAvatar {
  readonly source: Exclude<AvatarSource, 'uploaded'>;
  readonly version: number;
}

export interface UploadedAvatar {
  readonly source: 'uploaded';
  readonly version: number;
  /** Unguessable key in the picture file names: 32 hexadecimal digits. */
  readonly key: string;
}

/** System bots of a realm, distinguished by the local part of their email. */
export const SYSTEM_BOTS = [
  { kind: 'notification', localPart: 'notification-bot', fullName: 'Notification Bot' },
  { kind: 'welcome', localPart: 'welcome-bot', fullName: 'Welcome Bot' },
  { kind: 'mailGateway', localPart: 'emailgateway', fullName: 'Email Gateway' },
] as const;
export type SystemBotKind = (typeof SYSTEM_BOTS)[number]['kind'];

/** In code points (protocol §14). */
const MAX_NAME_LENGTH = 100;
const MIN_NAME_LENGTH = 2;
/** Minimum length of names set by the operator or host application, since one-letter names exist. */
export const SHORTEST_GIVEN_NAME = 1;

/** Returns the trimmed name. @throws DomainError INVALID_USER_NAME with the texts of users §3.3 in that order. */
export function parseFullName(raw: string, shortest = MIN_NAME_LENGTH): string {
  const name = trim(raw);
  if (isLongerThan(name, MAX_NAME_LENGTH)) throw new DomainError('INVALID_USER_NAME', 'Name too long!');
  if (isShorterThan(name, shortest)) throw new DomainError('INVALID_USER_NAME', 'Name too short!');
  const character = /[*`\\>"@]/.exec(name)?.[0] ?? [...name][positionOfUnprintable(name) - 1];
  if (character !== undefined) {
    throw new DomainError('INVALID_USER_NAME', 'Invalid characters in name!', { character });
  }
  // `name|12` would read as a mention of user 12.
  if (/\|\d+$/.test(raw)) throw new DomainError('INVALID_USER_NAME', 'Invalid format!');
  return name;
}

/** Similar characters that names may contain. Folding by NFKC turns them back, so that searches find the original. */
const SIMILAR: Readonly<Record<string, string>> = { '*': '＊', '`': '｀', '\\': '＼', '>': '＞', '@': '＠' };

/**
 * Replaces what `parseFullName` rejects: forbidden characters by similar ones, unprintable ones by spaces, and the end
 * of a long name by an ellipsis. For names from other systems, where people cannot choose another one.
 */
export function toFullName(raw: string): string {
  const printable = [...raw].map((character) => (positionOfUnprintable(character) > 0 ? ' ' : character)).join('');
  const name = trim(printable)
    .replace(/[*`\\>@]/g, (character) => SIMILAR[character]!)
    .replace(/(^|[\s(])"/g, '$1“')
    .replaceAll('"', '”')
    .replace(/\|(?=\d+$)/, '｜');
  return isLongerThan(name, MAX_NAME_LENGTH) ? `${trim(takeCodePoints(name, MAX_NAME_LENGTH - 1))}…` : name;
}

/**
 * Normalized form for comparing names in realms with unique names. Normalizes twice, since case folding may undo
 * NFKC.
 */
export const foldedName = (name: string): string => foldCase(name.normalize('NFKC')).normalize('NFKC');

/** Letters, digits and permitted punctuation, joined by single dots (RFC 5321 without quotes). */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two or more labels; the last one is neither a number nor a single letter. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d][a-z\d-]{0,61}[a-z\d]$/i;
const MAX_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;

/** Name of a machine in a private network, such as `localhost`. */
const MACHINE = /^(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/** True for an email that mail servers generally accept, as checked on sign-up. */
export const isEmailAddress = (text: string): boolean => isAddressAt(text, DOMAIN);

/** True for an address that a host application may assign: an email, or one at a machine, such as `ann@localhost`. */
export const isHostAddress = (text: string): boolean => isEmailAddress(text) || isAddressAt(text, MACHINE);

function isAddressAt(text: string, domain: RegExp): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > MAX_LENGTH || at > MAX_LOCAL_LENGTH) return false;
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && domain.test(text.slice(at + 1));
}

export const USER_ERRORS = declareErrors({
  /** The caller is deactivated. */
  USER_DEACTIVATED: 'unauthenticated',
  /** A user named by the request is deactivated. */
  NAMED_USER_DEACTIVATED: 'conflict',
  /** The user does not exist, or the caller cannot see them. */
  UNKNOWN_USER: 'unknown',
  /** The bot does not exist. */
  UNKNOWN_BOT: 'unknown',
  /** Requires a grant by the operator (`GrantSpecialPermission`). */
  SPECIAL_PERMISSION_REQUIRED: 'forbidden',
  /** Too long, too short, or with forbidden characters. */
  INVALID_USER_NAME: 'invalid',
  /** The organization requires unique names, and this one is taken. */
  USER_NAME_TAKEN: 'conflict',
  /** Another active bot has the name. */
  BOT_NAME_TAKEN: 'conflict',
  /** Not an email address. */
  INVALID_EMAIL: 'invalid',
  /** Another user has the address. */
  EMAIL_TAKEN: 'conflict',
  /** A deactivated user has the address. */
  EMAIL_OF_DEACTIVATED_USER: 'conflict',
  /** A system bot has the address. */
  EMAIL_RESERVED: 'conflict',
  /** The organization does not accept such addresses. */
  EMAIL_NOT_ALLOWED: 'forbidden',
  /** The organization does not allow changing addresses. */
  EMAIL_CHANGES_DISABLED: 'forbidden',
  /** The organization does not allow changing avatars. */
  AVATAR_CHANGES_DISABLED: 'forbidden',
  /** The organization would be left without an owner. */
  LAST_OWNER: 'conflict',
  /** The caller is the last owner or user; `isLastOwner`, `entity`. */
  CANNOT_DEACTIVATE_LAST_USER: 'conflict',
  /** A guest cannot be made an administrator. */
  GUEST_CANNOT_ADMINISTER: 'conflict',
  /** A bot cannot be given to a bot. */
  BOT_CANNOT_OWN_BOTS: 'conflict',
  /** Neither users nor groups are named. */
  NO_TARGET_USERS: 'invalid',
  /** Only users themselves may change this setting. */
  SETTING_NOT_FOR_OTHERS: 'forbidden',
});

type UserErrors = typeof USER_ERRORS;

/** Entry of a long user list; the full user is loaded only if this version is not cached. */
export interface UserListEntry {
  readonly id: UserId;
  readonly version: number;
  readonly isActive: boolean;
}

/** Question: does a guest share a channel or direct conversation with a user? */
export interface ConversationPartnerQuestion {
  readonly guestId: UserId;
  readonly userId: UserId;
  /** Point in the event log; null for the current state. */
  readonly at: EventSeq | null;
}

export interface UserReads {
  /** Finds members of the realm; use `findSystemBot` or `list` for system bots. Returns null if there is none. */
  find(realmId: RealmId, id: UserId): Promise<User | null>;
  /** Like `find`, for a user who must exist, such as the caller. @throws DomainError UNKNOWN_USER */
  get(realmId: RealmId, id: UserId): Promise<User>;
  /** Finds a user by login email, case-insensitively. Includes bots and deactivated users but no system bots. */
  findByEmail(realmId: RealmId, email: string): Promise<User | null>;
  /** Includes system bots; unknown ids are absent; sorted by ascending id. */
  list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]>;
  /** Returns the active users among the given ids, ascending. Includes bots but no system bots. */
  listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]>;
  /** Finds users by login email, trimmed and case-insensitive. Includes system bots; unknown emails are absent. */
  listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]>;
  /** Unknown external ids are absent. */
  listByExternalId(realmId: RealmId, externalIds: readonly string[]): Promise<readonly User[]>;
  /** Finds users by name, case-insensitively, by ascending id. Includes bots and system bots. */
  listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]>;
  /** Returns all users by ascending id, including deactivated users and bots but no system bots. */
  listEntries(realmId: RealmId): Promise<readonly UserListEntry[]>;
  /** The same for some users; unknown ids are absent. The cost grows with the number of ids. */
  listSomeEntries(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserListEntry[]>;
  /** The same for all users except guests. */
  listMemberEntries(realmId: RealmId): Promise<readonly UserListEntry[]>;
  /**
   * Returns up to `limit` users with `text` in their name, ignoring letter case: active ones first, by folded name. No
   * system bots.
   */
  listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly UserId[]>;
  /** Ascending id. */
  listSystemBots(realmId: RealmId): Promise<readonly User[]>;
  findSystemBot(realmId: RealmId, kind: SystemBotKind): Promise<User>;
  /** True if another user has this name in NFKC case-folded form. Bots and deactivated users count. */
  isNameTaken(realmId: RealmId, fullName: string, except: UserId | null): Promise<boolean>;
  /**
   * Returns active users who share a channel with the user, and all users, active or not, who share a direct
   * conversation.
   */
  listConversationPartners(realmId: RealmId, id: UserId): Promise<ReadonlySet<UserId>>;
  /**
   * Returns results in the order of the questions. Results for the current state match
   * `listConversationPartners`.
   */
  areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]>;
  /** Returns humans who want all resolve notices unread (messages §9.6); ascending. */
  listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]>;
  /** Returns the realm's bots except system bots; ascending. */
  listBotIds(realmId: RealmId): Promise<readonly UserId[]>;
  /** Returns all guests, including deactivated ones; ascending. */
  listGuestIds(realmId: RealmId): Promise<readonly UserId[]>;
  /** Returns null if no password is set. */
  findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null>;
  /** Returns the seed of links and tokens of the user, which is a secret; null for unknown users. */
  findSeed(realmId: RealmId, id: UserId): Promise<Seed>;
}

/** Every implementation passes user-repository.contract.ts. */
export interface UserRepository extends UserReads {
  /** Adds a user with `version` 1. @throws DomainError EMAIL_TAKEN if the email is taken. */
  add(user: Omit<User, 'id' | 'version'>, passwordHash: string | null, systemKind?: SystemBotKind): Promise<User>;
  /** Stores the user and increments the version. */
  update(user: User): Promise<User>;
  setPasswordHash(realmId: RealmId, id: UserId, hash: string | null): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends UserErrors {}

  interface ErrorDetails {
    /** `entity`: `user` or `organization owner`; the account is the last one of that kind. */
    CANNOT_DEACTIVATE_LAST_USER: { readonly isLastOwner: boolean; readonly entity: string };
    /** The first forbidden character, if that is the reason. */
    INVALID_USER_NAME: { readonly character?: string };
  }
  interface RepositoryMap {
    users: [reads: UserReads, repository: UserRepository];
  }
}

/** Status text and emoji of a user (users §7). */
export interface UserStatus {
  /** Empty if there is no text. */
  readonly text: string;
  readonly emoji: Emoji | null;
}
