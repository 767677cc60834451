import type { GroupId, RealmId, UserId } from '../kernel/ids.js';
import './roles.js';
import { DomainError } from '../kernel/errors.js';
import { all, type Decision, denied, denyIf, enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { type Actor, isGuest } from './actor.js';
import type { SystemGroupName } from './roles.js';

/** What a permission is given to: a named group, or an anonymous one spelt out by its members. Both lists ascend. */
export type GroupSettingValue =
  | GroupId
  | { readonly directMembers: readonly UserId[]; readonly directSubgroups: readonly GroupId[] };

/** One permission that can be given to a group (channels §3.4–3.6). */
export interface GroupSettingDefinition {
  readonly requireSystemGroup: boolean;
  readonly allowInternet: boolean;
  readonly allowNobody: boolean;
  readonly allowEveryone: boolean;
  readonly default: SystemGroupName | 'creator';
  /** The default of this permission on a system group; absent outside the registry of groups. */
  readonly defaultOnSystemGroups?: SystemGroupName;
  /** Empty: any. */
  readonly allowedSystemGroups: readonly SystemGroupName[];
}

/** `n` allows nobody, `y` allows everyone. */
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
/** The same permissions with what each is given to, as clients see it. */
export type GroupSettingValues<R> = { readonly [K in keyof R]: GroupSettingValue };

type SystemGroupIds = Awaited<ReturnType<Transaction['groups']['systemGroupIds']>>;

/**
 * The groups that permissions of a registry start with. `creator` becomes an anonymous group of the creator alone, or
 * nobody where there is no creator.
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

/** An anonymous group, and its place in the log for whoever follows membership. */
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
  await tx.yield();
  return group.id;
}

/** What a grant reads of whoever asks. */
export type PermissionHolder = Pick<Actor, 'role' | 'groups'>;

/**
 * The one way to ask for a permission (channels §3.3). Guests never pass one that cannot be given to everyone, whatever
 * groups they are in. Nobody passes by their role alone: where administrators do, a rule says so.
 */
export function isGranted(
  actor: PermissionHolder,
  groupId: GroupId,
  definition: Pick<GroupSettingDefinition, 'allowEveryone'>,
): boolean {
  return (definition.allowEveryone || !isGuest(actor)) && actor.groups.has(groupId);
}

type Group = Awaited<ReturnType<Repositories['groups']['list']>>[number];

const USERS_AT_A_TIME = 2000;
const GROUPS_AT_A_TIME = 200;

/** Of these users, those who are active and may be members: bots too, but none of the system's (contract decision 22). */
export async function activeUserIds(
  repositories: Pick<Repositories | Transaction, 'users' | 'yield'>,
  realmId: RealmId,
  ids: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  const active = new Set<UserId>();
  for (const some of slicesOf(ids, USERS_AT_A_TIME)) {
    for (const id of await repositories.users.listActiveIds(realmId, some)) active.add(id);
    await repositories.yield();
  }
  return active;
}

export async function groupsById(
  repositories: Pick<Repositories | Transaction, 'groups' | 'yield'>,
  realmId: RealmId,
  ids: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, Group>> {
  const found = new Map<GroupId, Group>();
  for (const some of slicesOf([...new Set(ids)], GROUPS_AT_A_TIME)) {
    for (const group of await repositories.groups.list(realmId, some)) found.set(group.id, group);
    await repositories.yield();
  }
  return found;
}

/**
 * The one spelling of a value (channels §2.4): lists ascend without duplicates; a single subgroup and nobody else is that
 * group; nobody at all is the group of nobody. Clients compare values by it, and so do updates.
 */
export function canonicalGroupSetting(value: GroupSettingValue, nobodyId: GroupId): GroupSettingValue {
  if (typeof value === 'number') return value;
  const directMembers = ascending(value.directMembers);
  const directSubgroups = ascending(value.directSubgroups);
  if (directMembers.length === 0 && directSubgroups.length <= 1) return directSubgroups[0] ?? nobodyId;
  return { directMembers, directSubgroups };
}

const ascending = <Id extends number>(ids: readonly Id[]): readonly Id[] => [...new Set(ids)].sort((a, b) => a - b);

/** Of canonical values. */
export function isSameGroupSetting(one: GroupSettingValue, other: GroupSettingValue): boolean {
  if (typeof one === 'number' || typeof other === 'number') return one === other;
  return isSame(one.directMembers, other.directMembers) && isSame(one.directSubgroups, other.directSubgroups);
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);

/** A change by somebody who says what they think the value is, so that they do not undo another's change unseen. */
export interface GroupSettingUpdate {
  readonly new: GroupSettingValue;
  readonly old?: GroupSettingValue;
}

/**
 * The value to store, canonical; null: it has that value already, so nothing changes and no event is sent. Refused where
 * `old` is another value (channels §2.4). `current`: as `GroupReads.settingValues` answers, and so clients see it.
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

/** What is asked of a group that a value names. */
export interface NamedGroup {
  /** Null: an anonymous one. */
  readonly name: string | null;
  /** Null: none of the system's. */
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
}

/** What a value names, looked up beforehand: whatever is absent is unknown. */
export interface NamedInSetting {
  /** By id: groups of the realm, anonymous ones too. */
  readonly groups: ReadonlyMap<GroupId, NamedGroup>;
  /** Active users of the realm, without its system bots (contract decision 22). */
  readonly userIds: ReadonlySet<UserId>;
}

/** The groups and users that `checkGroupSetting` asks for. */
export function namedIn(value: GroupSettingValue): {
  readonly groupIds: readonly GroupId[];
  readonly userIds: readonly UserId[];
} {
  return typeof value === 'number'
    ? { groupIds: [value], userIds: [] }
    : { groupIds: value.directSubgroups, userIds: value.directMembers };
}

/**
 * Whether a canonical value may be given to this permission, in the order of channels §2.4. `permission`: its name, for
 * refusals. What a permission excludes counts for a group by itself only: everyone beside somebody
 * else is accepted, and guests are turned away when it is asked (`isGranted`).
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

/** Whether a permission with this value depends on the group: as its holder, or as one of those spelt out. */
export const namesGroup = (value: GroupSettingValue, id: GroupId): boolean => namedIn(value).groupIds.includes(id);

/**
 * A value somebody chose for a permission, in its one spelling (channels §2.4). `permission`: its name, for refusals. @throws DomainError UNKNOWN_GROUP, UNKNOWN_USER, GROUP_DEACTIVATED, GROUP_NOT_ALLOWED, SYSTEM_GROUP_REQUIRED
 */
export async function validateGroupSetting(
  tx: Transaction,
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
 * People and groups in the values of an organization's permissions, those included that were replaced and are not yet removed:
 * every client gets the values of all channels and groups.
 */
export const MAX_PERMISSION_HOLDERS = 250_000;

/**
 * Room for a value that names so many. One can always be named: whoever makes a channel or a group may administer it.
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

/**
 * The group that stands for an accepted value: the named one itself, or a new anonymous one.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export async function groupForSetting(tx: Transaction, realmId: RealmId, value: GroupSettingValue): Promise<GroupId> {
  if (typeof value === 'number') return value;
  const { directMembers, directSubgroups } = value;
  requireRoomForHolders(await tx.groups.countPermissionHolders(realmId), directMembers.length + directSubgroups.length);
  return addAnonymousGroup(tx, realmId, directMembers, directSubgroups);
}

/** A permission that changes: `value` as clients see it, `groupId` what it is stored as. */
export interface AcceptedGroupSetting<P extends string> {
  readonly name: P;
  readonly value: GroupSettingValue;
  readonly groupId: GroupId;
}

/**
 * Those of the requested changes that change something, in the order of the registry.
 * @throws DomainError STALE_VALUE, and as `validateGroupSetting` and `groupForSetting` do
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
