import { DomainError } from '../kernel/errors.js';
import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import { all, type Decision, denied, denyIf, enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { type Actor, isGuest } from './actor.js';
import { SYSTEM_GROUPS, type SystemGroupName, systemGroupTitle } from './roles.js';

/** Holder of a permission: a named group, or an anonymous group given by its members. Both lists are ascending. */
export type GroupSettingValue =
  | GroupId
  | { readonly directMembers: readonly UserId[]; readonly directSubgroups: readonly GroupId[] };

/** Definition of a permission that can be assigned to a group (channels §3.4–3.6). */
export interface GroupSettingDefinition {
  readonly requireSystemGroup: boolean;
  readonly allowInternet: boolean;
  readonly allowNobody: boolean;
  readonly allowEveryone: boolean;
  readonly default: SystemGroupName | 'creator';
  /** Default value on system groups; absent outside the group registry. */
  readonly defaultOnSystemGroups?: SystemGroupName;
  /** Empty allows any system group. */
  readonly allowedSystemGroups: readonly SystemGroupName[];
}

/** `allows` contains `n` if `nobody` and `y` if `everyone` is allowed. */
export function groupSetting(
  initial: SystemGroupName | 'creator',
  allows: '' | 'n' | 'y' | 'ny',
  more: Partial<GroupSettingDefinition> = {},
): GroupSettingDefinition {
  return {
    requireSystemGroup: false,
    allowInternet: false,
    allowNobody: allows.includes('n'),
    allowEveryone: allows.includes('y'),
    default: initial,
    allowedSystemGroups: [],
    ...more,
  };
}

export type GroupSettings<R> = { readonly [K in keyof R]: GroupId };
/** Permission values of a registry as clients see them. */
export type GroupSettingValues<R> = { readonly [K in keyof R]: GroupSettingValue };

type SystemGroupIds = Awaited<ReturnType<Transaction['groups']['systemGroupIds']>>;

/**
 * Returns the initial groups of a permission registry. `creator` becomes an anonymous group with the creator as its
 * only member, or `nobody` without a creator.
 */
export async function defaultGroupSettings<R extends Readonly<Record<string, GroupSettingDefinition>>>(
  registry: R,
  system: SystemGroupIds,
  creatorGroup: () => Promise<SystemGroupIds[SystemGroupName]>,
): Promise<GroupSettings<R>> {
  const groupSettings: Record<string, SystemGroupIds[SystemGroupName]> = {};
  for (const [name, definition] of Object.entries(registry)) {
    groupSettings[name] = definition.default === 'creator' ? await creatorGroup() : system[definition.default];
  }
  return groupSettings as GroupSettings<R>;
}

/** Creates an anonymous group and publishes an event for consumers that track membership. */
export async function addAnonymousGroup(
  tx: Transaction,
  realmId: RealmId,
  members: Parameters<Transaction['groups']['add']>[1],
  subgroups: Parameters<Transaction['groups']['add']>[2],
): Promise<SystemGroupIds[SystemGroupName]> {
  const group = await tx.groups.add(
    {
      realmId,
      name: null,
      description: '',
      systemName: null,
      isDeactivated: false,
      creatorId: null,
      createdAt: null,
      permissions: null,
    },
    members,
    subgroups,
  );
  await tx.events.append(realmId, {
    event: { type: 'group.created', groupId: group.id, memberIds: members, subgroupIds: subgroups, view: null },
    audience: { kind: 'nobody' },
  });
  return group.id;
}

/**
 * Returns the anonymous group with only this user. Shared by everything that the user creates, because the cost of
 * reading an actor grows with their groups.
 */
export async function groupOfOne(
  tx: Transaction,
  realmId: RealmId,
  userId: Parameters<Transaction['groups']['findOfOne']>[1],
): Promise<GroupId> {
  const existing = await tx.groups.findOfOne(realmId, userId);
  if (existing !== null) return existing;
  const id = await addAnonymousGroup(tx, realmId, [userId], []);
  await tx.groups.shareOfOne(realmId, userId, id);
  return id;
}

/** Actor data needed to check a permission. */
export type PermissionHolder = Pick<Actor, 'role' | 'groups'>;

/**
 * Checks a permission; all rules use this function (channels §3.3). Guests never hold a permission that cannot be
 * assigned to everyone, regardless of their groups. Roles grant nothing by themselves; rules add exceptions for
 * administrators.
 */
export function isGranted(
  actor: PermissionHolder,
  groupId: GroupId,
  definition: Pick<GroupSettingDefinition, 'allowEveryone'>,
): boolean {
  return (definition.allowEveryone || !isGuest(actor)) && actor.groups.has(groupId);
}

type Group = Awaited<ReturnType<Repositories['groups']['list']>>[number];

/** Returns the id of a group by its name, such as `role:members`. @throws DomainError UNKNOWN_GROUP */
export async function groupNamed(
  { groups }: Pick<Repositories | Transaction, 'groups'>,
  realmId: RealmId,
  name: string,
): Promise<GroupId> {
  const group = await groups.findByName(realmId, name);
  if (group) return group.id;
  const roles = SYSTEM_GROUPS.map((role) => systemGroupTitle(role.name));
  const meant = roles.includes(`role:${name}`) ? `did you mean role:${name}?` : `roles are ${roles.join(', ')}.`;
  throw new DomainError('UNKNOWN_GROUP', `There is no group '${name}'; ${meant}`);
}

/**
 * Returns the given users who are active and may be members, including bots but not system bots (contract decision 22).
 */
export async function activeUserIds(
  repositories: Pick<Repositories | Transaction, 'users'>,
  realmId: RealmId,
  ids: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  return new Set(await repositories.users.listActiveIds(realmId, ids));
}

export async function groupsById(
  repositories: Pick<Repositories | Transaction, 'groups'>,
  realmId: RealmId,
  ids: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, Group>> {
  const groups = await repositories.groups.list(realmId, [...new Set(ids)]);
  return new Map(groups.map((group) => [group.id, group]));
}

/**
 * Canonical form of a value (channels §2.4): sorted lists without duplicates. A single subgroup becomes that group;
 * an empty value becomes `nobody`. Clients and updates compare values in this form.
 */
export function canonicalGroupSetting(value: GroupSettingValue, nobodyId: GroupId): GroupSettingValue {
  if (typeof value === 'number') return value;
  const directMembers = ascending(value.directMembers);
  const directSubgroups = ascending(value.directSubgroups);
  if (directMembers.length === 0 && directSubgroups.length <= 1) return directSubgroups[0] ?? nobodyId;
  return { directMembers, directSubgroups };
}

const ascending = <Id extends number>(ids: readonly Id[]): readonly Id[] => [...new Set(ids)].sort((a, b) => a - b);

/** Compares canonical values. */
export function isSameGroupSetting(one: GroupSettingValue, other: GroupSettingValue): boolean {
  if (typeof one === 'number' || typeof other === 'number') return one === other;
  return isSame(one.directMembers, other.directMembers) && isSame(one.directSubgroups, other.directSubgroups);
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);

/** Change with the expected old value, so that concurrent changes are not overwritten. */
export interface GroupSettingUpdate {
  readonly new: GroupSettingValue;
  readonly old?: GroupSettingValue;
}

/**
 * Returns the canonical value to store, or null if it is unchanged and needs no event. Rejects a differing `old`
 * (channels §2.4). `current` comes from `GroupReads.settingValues`.
 */
export function groupSettingUpdate(
  current: GroupSettingValue,
  update: GroupSettingUpdate,
  nobodyId: GroupId,
): { readonly decision: Decision; readonly value: GroupSettingValue | null } {
  const before = canonicalGroupSetting(current, nobodyId);
  const value = canonicalGroupSetting(update.new, nobodyId);
  const expected = update.old === undefined ? before : canonicalGroupSetting(update.old, nobodyId);
  return {
    decision: denyIf(
      !isSameGroupSetting(expected, before),
      'STALE_VALUE',
      "'old' value does not match the expected value.",
    ),
    value: isSameGroupSetting(value, before) ? null : value,
  };
}

/** Data of a referenced group needed for validation. */
export interface NamedGroup {
  /** Null for an anonymous group. */
  readonly name: string | null;
  /** Null unless it is a system group. */
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
}

/** References of a value, looked up beforehand; unknown ones are absent. */
export interface NamedInSetting {
  /** Groups of the realm by id, including anonymous ones. */
  readonly groups: ReadonlyMap<GroupId, NamedGroup>;
  /** Active users of the realm except system bots (contract decision 22). */
  readonly userIds: ReadonlySet<UserId>;
}

/** Returns the groups and users that `checkGroupSetting` needs. */
export function namedIn(value: GroupSettingValue): {
  readonly groupIds: readonly GroupId[];
  readonly userIds: readonly UserId[];
} {
  return typeof value === 'number'
    ? { groupIds: [value], userIds: [] }
    : { groupIds: value.directSubgroups, userIds: value.directMembers };
}

/**
 * Checks a canonical value in the order of channels §2.4. `permission` is the name for error messages. Exclusions
 * apply only to a group as the entire value. `everyone` within an anonymous group is accepted, and `isGranted` denies
 * guests later.
 */
export function checkGroupSetting(
  value: GroupSettingValue,
  definition: GroupSettingDefinition,
  permission: string,
  named: NamedInSetting,
): Decision {
  return typeof value === 'number'
    ? checkNamedGroup(named.groups.get(value), definition, permission)
    : all(needsSystemGroup(definition, null, permission), checkAnonymousGroup(value, named));
}

function checkNamedGroup(
  group: NamedGroup | undefined,
  definition: GroupSettingDefinition,
  permission: string,
): Decision {
  if (group === undefined || group.name === null) return denied('UNKNOWN_GROUP', 'Invalid user group');
  const { name, systemName } = group;
  const isShut: Readonly<Partial<Record<SystemGroupName, boolean>>> = {
    internet: !definition.allowInternet,
    nobody: !definition.allowNobody,
    everyone: !definition.allowEveryone,
  };
  const { allowedSystemGroups } = definition;
  return all(
    denyIf(group.isDeactivated, 'GROUP_DEACTIVATED', 'User group is deactivated.'),
    needsSystemGroup(definition, systemName, permission),
    denyIf(
      (systemName !== null && isShut[systemName] === true) ||
        (allowedSystemGroups.length > 0 && (systemName === null || !allowedSystemGroups.includes(systemName))),
      'GROUP_NOT_ALLOWED',
      `'${permission}' cannot be given to the group '${name}'.`,
      { permission, groupName: name },
    ),
  );
}

const needsSystemGroup = (
  definition: GroupSettingDefinition,
  systemName: SystemGroupName | null,
  permission: string,
): Decision =>
  denyIf(
    definition.requireSystemGroup && systemName === null,
    'SYSTEM_GROUP_REQUIRED',
    `'${permission}' must be given to a system group.`,
    { permission },
  );

function checkAnonymousGroup(value: Exclude<GroupSettingValue, GroupId>, named: NamedInSetting): Decision {
  const unknownUser = value.directMembers.find((id) => !named.userIds.has(id));
  if (unknownUser !== undefined) return denied('UNKNOWN_USER', `Invalid user ID: ${unknownUser}`);
  const unknownGroup = value.directSubgroups.find((id) => (named.groups.get(id)?.name ?? null) === null);
  if (unknownGroup !== undefined) return denied('UNKNOWN_GROUP', `Invalid user group ID: ${unknownGroup}`);
  return denyIf(
    value.directSubgroups.some((id) => named.groups.get(id)?.isDeactivated === true),
    'GROUP_DEACTIVATED',
    'User group is deactivated.',
  );
}

/**
 * Validates a permission value and returns its canonical form (channels §2.4). `permission` is the name for error
 * messages. @throws DomainError UNKNOWN_GROUP, UNKNOWN_USER, GROUP_DEACTIVATED, GROUP_NOT_ALLOWED,
 * SYSTEM_GROUP_REQUIRED
 */
export async function validateGroupSetting(
  tx: Pick<Repositories | Transaction, 'groups' | 'users'>,
  realmId: RealmId,
  permission: string,
  definition: GroupSettingDefinition,
  chosen: GroupSettingValue,
): Promise<GroupSettingValue> {
  const { nobody } = await tx.groups.systemGroupIds(realmId);
  const value = canonicalGroupSetting(chosen, nobody);
  const { groupIds, userIds } = namedIn(value);
  const named = {
    groups: await groupsById(tx, realmId, groupIds),
    userIds: await activeUserIds(tx, realmId, userIds),
  };
  enforce(checkGroupSetting(value, definition, permission, named));
  return value;
}

/**
 * Maximum number of users and groups in all permission values of a realm, including replaced ones until removal.
 * Every client receives all values of channels and groups.
 */
export const MAX_PERMISSION_HOLDERS = 250_000;

/**
 * Checks the capacity for a new value. A single holder is always allowed, so that creators can administer their
 * channels and groups.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export function requireRoomForHolders(present: number, named: number): void {
  if (named > 1 && present + named > MAX_PERMISSION_HOLDERS) {
    throw new DomainError(
      'TOO_MANY_PERMISSION_HOLDERS',
      `Too many people in permissions (limit: ${MAX_PERMISSION_HOLDERS}).`,
    );
  }
}

/** Maximum number of users and groups named by the permissions of one request, multiplied by the channels it creates. */
export const MAX_HOLDERS_IN_REQUEST = 10_000;

/** Limits the rows that one unit of work stores. @throws DomainError TOO_MANY_HOLDERS_IN_REQUEST */
export function checkHoldersInRequest(values: readonly (GroupSettingValue | undefined)[], channelCount = 1): void {
  let named = 0;
  for (const value of values) {
    if (typeof value === 'object') named += value.directMembers.length + value.directSubgroups.length;
  }
  if (named * channelCount <= MAX_HOLDERS_IN_REQUEST) return;
  throw new DomainError(
    'TOO_MANY_HOLDERS_IN_REQUEST',
    `Too many people in the permissions of one request: times new channels they may be ${MAX_HOLDERS_IN_REQUEST} at most.`,
  );
}

/** Number of users and groups that a value names. */
const holdersIn = (value: GroupSettingValue): number =>
  typeof value === 'number' ? 0 : value.directMembers.length + value.directSubgroups.length;

/**
 * Checks the capacity for the values of new channels, before the first one is stored.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export async function requireRoomForValues(
  tx: Transaction,
  realmId: RealmId,
  values: readonly GroupSettingValue[],
  channelCount: number,
): Promise<void> {
  // Values with one person share a group.
  const named = values.map(holdersIn).filter((count) => count > 1);
  const total = named.reduce((sum, count) => sum + count, 0) * channelCount;
  if (total > 0) requireRoomForHolders(await tx.groups.countPermissionHolders(realmId), total);
}

/**
 * Returns the named group of an accepted value, or creates an anonymous one.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export async function groupForSetting(tx: Transaction, realmId: RealmId, value: GroupSettingValue): Promise<GroupId> {
  if (typeof value !== 'number') {
    requireRoomForHolders(await tx.groups.countPermissionHolders(realmId), holdersIn(value));
  }
  return storeGroupSetting(tx, realmId, value);
}

/** Stores a value after `requireRoomForValues`; returns its group. */
export async function storeGroupSetting(tx: Transaction, realmId: RealmId, value: GroupSettingValue): Promise<GroupId> {
  if (typeof value === 'number') return value;
  return addAnonymousGroup(tx, realmId, value.directMembers, value.directSubgroups);
}

/** Changed permission: `value` as clients see it, `groupId` as stored. */
export interface AcceptedGroupSetting<P extends string> {
  readonly name: P;
  readonly value: GroupSettingValue;
  readonly groupId: GroupId;
}

/**
 * Returns the requested changes that have an effect, in registry order.
 * @throws DomainError TOO_MANY_HOLDERS_IN_REQUEST, STALE_VALUE, and the codes of `validateGroupSetting` and
 * `groupForSetting`
 */
export async function acceptGroupSettings<P extends string>(
  tx: Transaction,
  realmId: RealmId,
  registry: Readonly<Record<P, GroupSettingDefinition>>,
  present: Readonly<Record<P, GroupId>>,
  requested: { readonly [K in P]?: GroupSettingUpdate },
): Promise<readonly AcceptedGroupSetting<P>[]> {
  const names = (Object.keys(registry) as P[]).filter((name) => requested[name] !== undefined);
  if (names.length === 0) return [];
  checkHoldersInRequest(names.map((name) => requested[name]!.new));
  const { nobody } = await tx.groups.systemGroupIds(realmId);
  const current = await tx.groups.settingValues(
    realmId,
    names.map((name) => present[name]),
  );
  const accepted: AcceptedGroupSetting<P>[] = [];
  for (const name of names) {
    const groupId = present[name];
    const { decision, value: wanted } = groupSettingUpdate(current.get(groupId) ?? groupId, requested[name]!, nobody);
    enforce(decision);
    if (wanted === null) continue;
    const value = await validateGroupSetting(tx, realmId, name, registry[name], wanted);
    accepted.push({ name, value, groupId: await groupForSetting(tx, realmId, value) });
  }
  return accepted;
}
