import type { ApiKeyMint } from '../access/api-keys.js';
import type { Role } from '../access/role.js';
import type { Channel } from '../channels/channel.js';
import { subscribeToChannels } from '../channels/subscribe-to-channels.js';
import { systemGroupsOf } from '../groups/system-group-maintenance.js';
import { wholeRealm } from '../kernel/audience.js';
import { DomainError } from '../kernel/errors.js';
import type { UnixSeconds } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { UserSettings } from '../realms/user-settings.js';
import { announceExportConsent } from '../users/export-consent.js';
import type { Bot, UploadedAvatar, User } from '../users/user.js';

export interface NewUser {
  readonly email: string;
  /** Checked by `parseFullName`. */
  readonly fullName: string;
  readonly role: Role;
  /** Null: they cannot sign in with a password. */
  readonly passwordHash: string | null;
  readonly bot?: Bot | null;
  /** Instead of the default one. */
  readonly avatar?: UploadedAvatar | null;
  /** Instead of the default ones; none of them is archived. */
  readonly channels?: readonly Channel[];
  /** Instead of the realm's defaults. */
  readonly settings?: Partial<UserSettings>;
}

type Reads = Pick<Repositories | Transaction, 'users'>;

/** Of a newcomer. @throws DomainError USER_NAME_TAKEN where the organization wants names unique, and somebody has this one. */
export async function assertNameAvailable({ users }: Reads, realm: Realm, fullName: string): Promise<void> {
  if (realm.settings.requireUniqueNames && (await users.isNameTaken(realm.id, fullName, null))) {
    throw new DomainError('USER_NAME_TAKEN', 'Unique names required in this organization.');
  }
}

/** @throws DomainError EMAIL_TAKEN */
export async function assertEmailAvailable({ users }: Reads, realm: Realm, email: string): Promise<void> {
  if (await users.findByEmail(realm.id, email)) throw new DomainError('EMAIL_TAKEN', `Email '${email}' already in use`);
}

/**
 * A new member of the realm: in the groups of their role, with an API key, subscribed to the default channels or others, and announced
 * to everybody (users §3.1). @throws DomainError USER_NAME_TAKEN, EMAIL_TAKEN
 */
export async function addUser(
  tx: Transaction,
  realm: Realm,
  { email, fullName, role, passwordHash, bot = null, avatar = null, settings = {}, channels }: NewUser,
  { now, mint }: { readonly now: UnixSeconds; readonly mint: ApiKeyMint },
): Promise<User> {
  await assertNameAvailable(tx, realm, fullName);
  await assertEmailAvailable(tx, realm, email);
  const user = await tx.users.add(
    {
      realmId: realm.id,
      email,
      fullName,
      role,
      isActive: true,
      isDeleted: false,
      joinedAt: now,
      bot,
      avatar: avatar ?? { source: realm.settings.defaultAvatarSource, version: 1 },
      specialPermissions: [],
      editedSettings: [],
      settings: { ...realm.userDefaults, ...settings, ...(bot ? { emailAddressVisibility: 'everyone' as const } : {}) },
    },
    passwordHash,
  );
  const record = { realmId: realm.id, userId: user.id, generation: 1 };
  await tx.apiKeys.put(record, mint.fingerprint(mint.derive(record)));

  await tx.events.append(realm.id, { event: { type: 'user.created', user }, audience: wholeRealm });
  const system = await tx.groups.systemGroupIds(realm.id);
  for (const name of systemGroupsOf(user, realm.settings.waitingPeriodThreshold, now)) {
    await tx.groups.addMembers(realm.id, system[name], [user.id]);
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'add', groupId: system[name], userIds: [user.id] },
      audience: wholeRealm,
    });
  }
  if (!bot) {
    // Newcomers need no banners about what has changed (organization §10.3).
    await tx.onboarding.markDone(realm.id, user.id, 'visibility_policy_banner');
    const followed =
      channels ?? (await tx.channels.listAll(realm.id)).filter((channel) => channel.isDefault && !channel.isArchived);
    await subscribeToChannels(tx, { channels: followed, userIds: [user.id], requestedColors: new Map() });
    await announceExportConsent(tx, user);
  }
  return user;
}
