import { type Actor, isGuest } from '../access/actor.js';
import type { GroupSettingValue } from '../access/group-settings.js';
import { type Role, SYSTEM_GROUPS, type SystemGroupName } from '../access/roles.js';
import { CHANNEL_PERMISSIONS, type ChannelPermission } from '../channels/channel.js';
import { metadataUsers } from '../channels/channel-delivery.js';
import { announceVisibilityAfterRole } from '../channels/channel-notices.js';
import { listDefaultChannelGroups } from '../channels/default-channels.js';
import { GROUP_PERMISSIONS, type GroupPermission } from '../groups/group.js';
import { systemGroupChange } from '../groups/system-groups.js';
import { DomainError } from '../kernel/errors.js';
import { type Audience, allOf, users as usersNamed, wholeRealm } from '../kernel/event.js';
import type { Caller, GroupId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { REALM_PERMISSIONS, type RealmPermission } from '../realms/realm-settings.js';
import { isLimitedGuest } from '../users/accessible-users.js';
import { acceptedName, changeEmail, type DisposableDomains, newEmailProblem, rename } from '../users/change-email.js';
import { findReferencedUser, type UserReference } from '../users/find-user.js';
import { type ProfileEntry, ProfileValues } from '../users/profiles.use-cases.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { announceAddressesSeen, announceReach } from '../users/user-events.js';
import {
  canAdministerBot,
  canAdministerUser,
  canChangeEmail,
  canChangeRole,
  canUpdateUsers,
  isOnlyOwnerOf,
} from '../users/user-permissions.js';

/**
 * Changes a user's role with the resulting groups, channels and visible users (users §3.2). Checks no permissions.
 * Deactivated users join the role's groups on reactivation.
 */
export async function changeRole(
  tx: Transaction,
  realm: Realm,
  user: User,
  role: Role,
  now: UnixSeconds,
): Promise<User> {
  const lastSeq = await tx.events.lastSeq(realm.id);
  const before = (await tx.actors.list(realm.id, [user.id])).get(user.id);
  const changed = await tx.users.update({ ...user, role });
  await tx.events.append(realm.id, {
    event: { type: 'user.role_changed', userId: user.id, role },
    audience: accessorsOf(user.id),
  });
  if (!before) return changed;
  await moveToRoleGroups(tx, realm, changed, now);
  const after = getOrThrow(await tx.actors.list(realm.id, [user.id]), user.id);
  await announceVisibilityAfterRole(tx, realm.id, { before, after });
  if (isGuest(before) !== isGuest(after)) await announceDefaultChannels(tx, realm, after);
  await announceAddressesSeen(tx, realm.id, user.id, before.role, role);
  const [wasLimited, isLimited] = [isLimitedGuest(before, realm), isLimitedGuest(after, realm)];
  if (wasLimited !== isLimited) {
    const reach = isLimited ? 'narrowed' : 'widened';
    await announceReach(tx, realm, reach, usersNamed([user.id]), lastSeq);
  }
  return changed;
}

/** Guests receive no default channels, and no groups of them (channels §2.3). */
async function announceDefaultChannels(tx: Transaction, realm: Realm, actor: Actor): Promise<void> {
  const audience = usersNamed([actor.id]);
  const channels = isGuest(actor) ? [] : await tx.channels.listDefaults(realm.id);
  await tx.events.append(realm.id, {
    event: { type: 'default_channels.changed', channelIds: channels.map(({ id }) => id) },
    audience,
  });
  const groups = await listDefaultChannelGroups(tx, realm.id);
  if (groups.length === 0) return;
  await tx.events.append(realm.id, {
    event: { type: 'default_channel_groups.changed', groups: isGuest(actor) ? [] : groups },
    audience,
  });
}

/** Moves an active user to the system groups of their role and publishes the changes. */
export async function moveToRoleGroups(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<void> {
  const system = await tx.groups.systemGroupIds(realm.id);
  const direct = new Set(await tx.groups.listDirectIds(realm.id, user.id));
  const current = SYSTEM_GROUPS.map(({ name }) => name).filter((name) => direct.has(system[name]));
  const { leaves, joins } = systemGroupChange(current, user, realm.settings.waitingPeriodThreshold, now);
  const append = (op: 'add' | 'remove', name: SystemGroupName) =>
    tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op, groupId: system[name], userIds: [user.id] },
      audience: wholeRealm,
    });
  const leave = async (names: readonly SystemGroupName[]) => {
    for (const name of names) {
      await tx.groups.removeMembers(realm.id, system[name], [user.id]);
      await append('remove', name);
    }
  };
  const join = async (names: readonly SystemGroupName[]) => {
    for (const name of names) {
      await tx.groups.addMembers(realm.id, system[name], [user.id]);
      await append('add', name);
    }
  };
  // The full members group comes after the role groups (users §3.2).
  const [isFull, isRole] = [isFullMembers, (name: SystemGroupName) => !isFullMembers(name)];
  await leave(leaves.filter(isRole));
  await join(joins.filter(isRole));
  await leave(leaves.filter(isFull));
  await join(joins.filter(isFull));
}

const isFullMembers = (name: SystemGroupName): boolean => name === 'fullMembers';

/** Returns the user's direct groups, split into named groups and anonymous groups that hold permission values. */
export async function directGroupsOf(tx: Transaction, realm: Realm, userId: UserId) {
  const groups = await tx.groups.list(realm.id, await tx.groups.listDirectIds(realm.id, userId));
  const idsOf = (isNamed: boolean) => groups.filter(({ name }) => (name !== null) === isNamed).map(({ id }) => id);
  return { named: idsOf(true), anonymousGroups: new Set(idsOf(false)) };
}

/**
 * Publishes again the permission values that name the user. Clients drop deactivated users from these values and
 * cannot restore them (users §4.1, §4.3).
 */
export async function announceValuesNaming(
  tx: Transaction,
  realm: Realm,
  anonymousGroups: ReadonlySet<GroupId>,
  to: Audience,
): Promise<void> {
  if (anonymousGroups.size === 0) return;
  const values = await tx.groups.settingValues(realm.id, [...anonymousGroups]);
  for (const permission of namesIn<RealmPermission>(REALM_PERMISSIONS)) {
    const groupId = realm.permissions[permission];
    const value = values.get(groupId);
    if (value === undefined) continue;
    const event = { type: 'realm.permission_changed', permission, groupId, value } as const;
    await tx.events.append(realm.id, { event, audience: to });
  }
  for (const group of await tx.groups.listNamed(realm.id)) {
    for (const property of namesIn<GroupPermission>(GROUP_PERMISSIONS)) {
      const value = values.get(group.permissions![property]);
      if (value === undefined) continue;
      const { id: groupId, isDeactivated } = group;
      const event = { type: 'group.property_changed', groupId, isDeactivated, property, value } as const;
      await tx.events.append(realm.id, { event, audience: to });
    }
  }
  await announceInChannels(tx, realm, values, to);
}

async function announceInChannels(
  tx: Transaction,
  realm: Realm,
  values: ReadonlyMap<GroupId, GroupSettingValue>,
  to: Audience,
): Promise<void> {
  for (const channel of await tx.channels.listAll(realm.id)) {
    for (const permission of namesIn<ChannelPermission>(CHANNEL_PERMISSIONS)) {
      const groupId = channel.permissions[permission];
      const value = values.get(groupId);
      if (value === undefined) continue;
      const { id: channelId, name } = channel;
      const sendersOf = async () => firstOf(await tx.channels.listViews(realm.id, [channelId])).sendersSystemGroup;
      const present = permission === 'canSendMessage' ? await sendersOf() : null;
      const senders = permission === 'canSendMessage' ? { before: present, after: present } : null;
      await tx.events.append(realm.id, {
        event: { type: 'channel.permission_changed', channelId, name, permission, groupId, value, senders },
        audience: to === wholeRealm ? metadataUsers(channel) : allOf(metadataUsers(channel), to),
      });
    }
  }
}

const namesIn = <N extends string>(registry: object): readonly N[] => Object.keys(registry) as N[];

export interface UpdateUserInput {
  readonly user: UserReference;
  readonly role?: Role;
  /** A blank or unchanged name is ignored. */
  readonly fullName?: string;
  readonly email?: string;
  /** Other fields stay unchanged; an empty value removes the field. */
  readonly profile?: readonly ProfileEntry[];
}

/** Changes an account on behalf of an administrator, bots and deactivated users included (users §3.2). */
export class UpdateUser {
  static readonly inject = ['unitOfWork', 'realmUrls', 'disposableDomains', 'clock', ProfileValues] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly profiles: ProfileValues,
  ) {}

  /**
   * Atomic.
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_USER, MUST_BE_OWNER, LAST_OWNER, GUEST_CANNOT_ADMINISTER,
   * INVALID_USER_NAME, USER_NAME_TAKEN, SPECIAL_PERMISSION_REQUIRED, INVALID_EMAIL, EMAIL_NOT_ALLOWED,
   * EMAIL_RESERVED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, UNKNOWN_PROFILE_FIELD, INVALID_PROFILE_VALUE,
   * UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, input: UpdateUserInput): Promise<void> {
    const { profile = [] } = input;
    const parsed = await this.profiles.parse(caller.realmId, profile);
    await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canUpdateUsers(actor));
      const realm = await tx.realms.get(caller.realmId);
      const user = await findReferencedUser(tx, actor, realm, this.realmUrls, input.user);
      enforce(canAdministerUser(actor, user, { allowBots: true, allowDeactivated: true }));
      let target = user!;
      const changesIdentity = input.fullName !== undefined || input.email !== undefined || profile.length > 0;
      if (target.bot && changesIdentity) enforce(canAdministerBot(actor, target));
      if (input.role !== undefined) target = await this.giveRole(tx, actor, realm, target, input.role);
      if (input.fullName !== undefined) target = await this.giveName(tx, realm, target, input.fullName);
      await this.profiles.store(tx, { realm, actor, user: target }, profile, parsed, { emptyRemoves: true });
      if (input.email !== undefined) await this.giveEmail(tx, actor, realm, target, trim(input.email));
    });
  }

  private async giveRole(tx: Transaction, actor: Actor, realm: Realm, user: User, role: Role): Promise<User> {
    if (role === user.role) return user;
    const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realm.id, user.id));
    enforce(canChangeRole(actor, user, role, isOnlyOwner));
    return changeRole(tx, realm, user, role, this.clock.now());
  }

  private async giveName(tx: Transaction, realm: Realm, user: User, raw: string): Promise<User> {
    if (trim(raw) === '' || raw === user.fullName) return user;
    return rename(tx, user, await acceptedName(tx, realm, user, raw));
  }

  /** Changes the address without confirmation, because the special permission implies the operator's trust. */
  private async giveEmail(tx: Transaction, actor: Actor, realm: Realm, user: User, email: string): Promise<void> {
    const caller = await tx.users.find(realm.id, actor.id);
    enforce(canChangeEmail(actor, caller?.specialPermissions.includes('canChangeUserEmails') ?? false));
    if (email === user.email) return;
    const problem = await newEmailProblem(tx, user, realm, email, this.disposable);
    if (problem?.code === 'INVALID_EMAIL') throw new DomainError('INVALID_EMAIL', 'Invalid new email address.');
    if (problem) throw new DomainError(problem.code, `New email value error: ${problem.message}`);
    await changeEmail(tx, user, email);
  }
}
