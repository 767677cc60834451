import type { Role } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { PlaceholderKeyId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { UserSettings } from '../realms/user-settings.js';
import { changeEmail, rename } from '../users/change-email.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { reactivateWithGroups } from './deactivation.js';
import { changeRole } from './roles.js';

/** Identity of a person that claims a placeholder at the first log-in, or user with whom the account belongs to one person. */
export interface PlaceholderKey {
  readonly id: PlaceholderKeyId;
  readonly realmId: RealmId;
  readonly placeholderId: UserId;
  /** Result of `emailKey`, `externalIdKey` or `visitKey`. */
  readonly key: string;
}

/** Account that a new user gets. */
export interface NewAccount {
  readonly email: string;
  /** Validated by `parseFullName`. */
  readonly fullName: string;
  readonly role: Role;
  /** Null if the user cannot log in with a password. */
  readonly passwordHash: string | null;
  /** Overrides the realm's defaults. */
  readonly settings?: Partial<UserSettings>;
  /** Id in the host application. */
  readonly externalId?: string;
}

/** Domain of placeholders' addresses, without mail servers (RFC 6761). */
export const PLACEHOLDER_DOMAIN = 'parley.invalid';

export const emailKey = (email: string): string => `email:${foldCase(email)}`;

/** `system`: name of a log-in method, or `host` or `scim`. Ids of different systems may be equal. */
export const externalIdKey = (system: string, externalId: string): string => `id:${system}:${externalId}`;

/** True for an imported person who never had an account. */
export const isPlaceholder = ({ isActive, isDeleted, bot, email }: User): boolean =>
  !isActive && !isDeleted && bot === null && email.endsWith(`@${PLACEHOLDER_DOMAIN}`);

export const PLACEHOLDER_KEY_ROWS: RowRules<PlaceholderKey> = {
  kind: 'placeholderKey',
  owner: 'realm',
  order: ['id'],
  unique: {
    property: 'key',
    taken: (key) => new DomainError('EXTERNAL_ID_TAKEN', `Another placeholder has the key '${key}'.`),
  },
};

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    placeholderKeys: [reads: RealmRowReads<PlaceholderKey>, repository: RealmRows<PlaceholderKey>];
  }
}

export const PLACEHOLDER_FEATURE = {
  rows: { placeholderKeys: PLACEHOLDER_KEY_ROWS },
  notExported: { placeholderKeys: 'They refer to people of the original system.' },
};

/** Adds a key unless another placeholder has it. */
export async function addPlaceholderKey(tx: Transaction, row: Omit<PlaceholderKey, 'id'>): Promise<void> {
  if ((await tx.placeholderKeys.findByKey(row.realmId, row.key)) === null) await tx.placeholderKeys.add(row);
}

/** Returns the placeholder of the first key that has one; null if there is none. */
export async function findPlaceholder(
  { placeholderKeys, users }: Pick<Repositories | Transaction, 'placeholderKeys' | 'users'>,
  realmId: RealmId,
  keys: readonly string[],
): Promise<User | null> {
  for (const key of keys) {
    const found = await placeholderKeys.findByKey(realmId, key);
    const user = found && (await users.find(realmId, found.placeholderId));
    if (user && isPlaceholder(user)) return user;
  }
  return null;
}

/** Turns a placeholder into a new user's account, with its messages, reactions and subscriptions. */
export async function claimPlaceholder(
  tx: Transaction,
  realm: Realm,
  placeholder: User,
  { email, fullName, role, passwordHash, settings, externalId }: NewAccount,
  now: UnixSeconds,
): Promise<User> {
  const { realmId, id: userId } = placeholder;
  let user = await rename(tx, placeholder, fullName);
  user = await changeEmail(tx, { ...user, settings: { ...user.settings, ...settings } }, email);
  if (role !== user.role) user = await changeRole(tx, realm, user, role, now);
  await tx.users.setPasswordHash(realmId, userId, passwordHash);
  if (externalId !== undefined) {
    await tx.externalIds.assign(realmId, userId, externalId);
    const event = { type: 'user.external_id_assigned', userId, externalId } as const;
    await tx.events.append(realmId, { event, audience: accessorsOf(userId) });
    user = await tx.users.get(realmId, userId);
  }
  return reactivateWithGroups(tx, realm, user, now);
}
