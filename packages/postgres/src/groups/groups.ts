import type { GroupSettingValue, SystemGroupName } from '@parley/domain/access';
import {
  GROUP_PERMISSIONS,
  type Group,
  type GroupRepository,
  type GroupView,
  groupNameTaken,
} from '@parley/domain/groups';
import { foldCase, type GroupId, type RealmId, slicesOf, type UserId } from '@parley/domain/kernel';
import {
  anonymousValue,
  ascending,
  fromGroup,
  type GroupRow,
  groupPermissions,
  groupSettingValues,
  type Quarantine,
  toGroup,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { readPermissions } from '../engine/permissions.js';
import { VALUES, type ValueTuple } from './group-values.js';
import { type KeptGroups, newKeptGroups, type SystemGroupIds } from './kept-groups.js';

/** Maximum number of members cached per realm (one or two megabytes); larger realms are read each time. */
const MAX_CACHED_MEMBERS = 200_000;
/** Members written per step before yielding. */
const MEMBERS_AT_A_TIME = 500;
/** Version of ids that never change. */
const ALWAYS = 0;
/** Groups whose members are read per step before yielding. */
const GROUPS_AT_A_TIME = 5;

/** Ids of members who are active users. */
const MEMBER_IDS = `(
  SELECT coalesce(array_agg(m.user_id ORDER BY m.user_id), '{}') FROM group_member m JOIN "user" u ON u.id = m.user_id AND u.is_active = 1
  WHERE m.group_id = g.id
)`;
const SUBGROUP_IDS = `(
  SELECT coalesce(array_agg(s.subgroup_id ORDER BY s.subgroup_id), '{}') FROM group_subgroup s WHERE s.group_id = g.id
)`;

export class PostgresGroupRepository implements GroupRepository {
  private readonly row;
  private readonly rowsByName;
  private readonly groupsVersion;
  private readonly systemIds;
  private readonly rows;
  private readonly namedRows;
  private readonly namedCount;
  private readonly membershipCount;
  private readonly countMembers;
  private readonly permissionHolderCount;
  private readonly countHolders;
  private readonly anonymousIds;
  private readonly deleteHolders;
  private readonly deleteAnonymous;
  private readonly uncountHolders;
  private readonly views;
  private readonly view;
  private readonly directAmong;
  private readonly subgroupIds;
  private readonly values;
  private readonly heldIds;
  private readonly activeMembers;
  private readonly directIds;
  private readonly directMembers;
  private readonly edges;
  private readonly deactivatedIds;
  private readonly insert;
  private readonly store;
  private readonly insertMembers;
  private readonly deleteMembers;
  private readonly insertSubgroups;
  private readonly deleteSubgroups;
  private readonly raiseVersion;
  private readonly raiseVersions;
  private readonly valuesVersion;

  constructor(
    private readonly connection: Connection,
    private readonly kept: KeptGroups,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows<GroupRow>('SELECT * FROM user_group WHERE id = $1 AND realm_id = $2');
    this.rowsByName = connection.rows<GroupRow>(
      'SELECT * FROM user_group WHERE realm_id = $1 AND name_key = ANY($2) ORDER BY id',
    );
    this.groupsVersion = connection.values<number>('SELECT groups_version FROM realm WHERE id = $1');
    this.systemIds = connection.tuples<[SystemGroupName, GroupId]>(
      'SELECT system_name, id FROM user_group WHERE realm_id = $1 AND system_name IS NOT NULL',
    );
    const view = `SELECT g.*, ${MEMBER_IDS} AS member_ids, ${SUBGROUP_IDS} AS subgroup_ids FROM user_group g`;
    this.views = connection.rows<ViewRow>(`${view} WHERE g.realm_id = $1 AND g.name_key IS NOT NULL ORDER BY g.id`);
    this.view = connection.rows<ViewRow>(`${view} WHERE g.id = $1 AND g.realm_id = $2 AND g.name_key IS NOT NULL`);
    this.rows = connection.rows<GroupRow>('SELECT * FROM user_group WHERE realm_id = $1 AND id = ANY($2) ORDER BY id');
    this.namedRows = connection.rows<GroupRow>(
      'SELECT * FROM user_group WHERE realm_id = $1 AND name_key IS NOT NULL ORDER BY id',
    );
    this.namedCount = connection.values<number>(
      'SELECT count(*) FROM user_group WHERE realm_id = $1 AND name_key IS NOT NULL',
    );
    this.membershipCount = connection.values<number>('SELECT membership_count FROM realm WHERE id = $1');
    this.countMembers = connection.command(
      `UPDATE realm SET membership_count = membership_count + $1
       WHERE id = $2 AND EXISTS (
         SELECT 1 FROM user_group WHERE id = $3 AND name_key IS NOT NULL AND system_name IS NULL)`,
    );
    this.permissionHolderCount = connection.values<number>('SELECT permission_holder_count FROM realm WHERE id = $1');
    this.countHolders = connection.command(
      `UPDATE realm SET permission_holder_count = permission_holder_count + $1
       WHERE id = $2 AND EXISTS (SELECT 1 FROM user_group WHERE id = $3 AND name_key IS NULL)`,
    );
    this.anonymousIds = connection.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = $1 AND name_key IS NULL ORDER BY id',
    );
    const anonymous = 'SELECT id FROM user_group WHERE id = ANY($1) AND realm_id = $2 AND name_key IS NULL';
    this.deleteHolders = [
      `DELETE FROM group_member WHERE group_id IN (${anonymous})`,
      `DELETE FROM group_subgroup WHERE group_id IN (${anonymous})`,
    ].map((sql) => connection.command(sql));
    this.deleteAnonymous = connection.command(`DELETE FROM user_group WHERE id IN (${anonymous})`);
    this.uncountHolders = connection.command(
      'UPDATE realm SET permission_holder_count = permission_holder_count - $1 WHERE id = $2',
    );
    this.directAmong = connection.values<UserId>(
      `SELECT user_id FROM group_member
       WHERE group_id = $1 AND realm_id = $2 AND user_id = ANY($3) ORDER BY user_id`,
    );
    this.subgroupIds = connection.values<GroupId>(
      'SELECT subgroup_id FROM group_subgroup WHERE group_id = $1 AND realm_id = $2 ORDER BY subgroup_id',
    );
    this.values = connection.tuples<ValueTuple>(VALUES);
    this.heldIds = connection.values<GroupId>(
      `WITH RECURSIVE closure (id) AS (
         SELECT id FROM user_group WHERE realm_id = $1 AND id = ANY($2)
         UNION
         SELECT g.id
         FROM closure c
         JOIN group_subgroup s ON s.group_id = c.id
         JOIN user_group g ON g.id = s.subgroup_id AND g.is_deactivated = 0
       )
       SELECT id FROM closure`,
    );
    this.activeMembers = connection.values<UserId>(
      `SELECT u.id FROM group_member m JOIN "user" u ON u.id = m.user_id AND u.is_active = 1
       WHERE m.group_id = ANY($1)`,
    );
    this.directIds = connection.values<GroupId>(
      'SELECT group_id FROM group_member WHERE user_id = $1 AND realm_id = $2 ORDER BY group_id',
    );
    this.directMembers = connection.values<UserId>(
      'SELECT user_id FROM group_member WHERE group_id = $1 AND realm_id = $2 ORDER BY user_id',
    );
    this.edges = connection.tuples<[GroupId, GroupId]>(
      'SELECT subgroup_id, group_id FROM group_subgroup WHERE realm_id = $1',
    );
    this.deactivatedIds = connection.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = $1 AND is_deactivated = 1 ORDER BY id',
    );
    this.insert = connection.values<GroupId>(
      `INSERT INTO user_group (realm_id, is_deactivated, name, name_key, description, system_name, creator_id,
                               created_at, permissions)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE user_group
       SET is_deactivated = $1, name = $2, name_key = $3, description = $4, system_name = $5, creator_id = $6, created_at = $7,
           permissions = $8
       WHERE id = $9 AND realm_id = $10
         AND NOT EXISTS (SELECT 1 FROM user_group WHERE realm_id = $10 AND name_key = $3 AND id <> $9)`,
    );
    // Joined with both tables, so ids of another realm are treated as unknown.
    this.insertMembers = connection.values<UserId>(
      `INSERT INTO group_member (group_id, user_id, realm_id)
       SELECT g.id, u.id, g.realm_id
       FROM user_group g JOIN "user" u ON u.realm_id = g.realm_id AND u.id = ANY($1)
       WHERE g.id = $2 AND g.realm_id = $3
       ON CONFLICT DO NOTHING RETURNING user_id`,
    );
    this.deleteMembers = connection.values<UserId>(
      `DELETE FROM group_member
       WHERE group_id = $1 AND realm_id = $2 AND user_id = ANY($3)
       RETURNING user_id`,
    );
    this.insertSubgroups = connection.values<GroupId>(
      `INSERT INTO group_subgroup (group_id, subgroup_id, realm_id)
       SELECT g.id, s.id, g.realm_id
       FROM user_group g JOIN user_group s ON s.realm_id = g.realm_id AND s.id = ANY($1)
       WHERE g.id = $2 AND g.realm_id = $3
       ON CONFLICT DO NOTHING RETURNING subgroup_id`,
    );
    this.deleteSubgroups = connection.values<GroupId>(
      `DELETE FROM group_subgroup
       WHERE group_id = $1 AND realm_id = $2 AND subgroup_id = ANY($3)
       RETURNING subgroup_id`,
    );
    this.raiseVersion = connection.command('UPDATE realm SET groups_version = groups_version + 1 WHERE id = $1');
    this.raiseVersions = connection.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           setting_values_version = setting_values_version + EXISTS (
             SELECT 1 FROM user_group g
             WHERE g.id = ANY($1) AND g.realm_id = realm.id AND g.name_key IS NULL)::int
       WHERE id = $2`,
    );
    this.valuesVersion = connection.values<number>('SELECT setting_values_version FROM realm WHERE id = $1');
  }

  async find(realmId: RealmId, id: GroupId): Promise<Group | null> {
    const row = await this.row.get(id, realmId);
    return row ? await this.toGroup(row) : null;
  }

  async findByName(realmId: RealmId, name: string): Promise<Group | null> {
    return (await this.listByName(realmId, [name]))[0] ?? null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]> {
    return this.toGroups(await this.rowsByName.all(realmId, names.map(foldCase)));
  }

  /** Changes when a user joins or leaves a group and when a member is deactivated or reactivated. */
  async versionOf(realmId: RealmId): Promise<number> {
    return (await this.kept.versions.of(this.connection, realmId, realmId, () => this.groupsVersion.get(realmId))) ?? 0;
  }

  /** Changes when `settingValues` changes for an existing group; membership of named groups has no effect on it. */
  async valuesVersionOf(realmId: RealmId): Promise<number> {
    return (await this.valuesVersion.get(realmId)) ?? 0;
  }

  /** Asks once, because system groups are made with their realm and keep their ids. */
  async systemGroupIds(realmId: RealmId): Promise<SystemGroupIds> {
    const cached = this.kept.systemGroups.get(realmId, ALWAYS);
    if (cached) return cached;
    const ids = Object.fromEntries(await this.systemIds.all(realmId)) as SystemGroupIds;
    this.kept.systemGroups.put(this.connection, realmId, ALWAYS, ids);
    return ids;
  }

  /** Returns the substitute for an unreadable group; 0, which is never a group id, in a realm without system groups. */
  async nobodyOf(realmId: RealmId): Promise<GroupId> {
    return (await this.systemIds.all(realmId)).find(([name]) => name === 'nobody')?.[1] ?? (0 as GroupId);
  }

  async listViews(realmId: RealmId): Promise<readonly GroupView[]> {
    const version = await this.versionOf(realmId);
    const cached = this.kept.views.get(realmId, version);
    if (cached) return cached;
    const views = await this.toViews(realmId, await this.views.all(realmId));
    const members = views.reduce((sum, { memberIds }) => sum + memberIds.length, 0);
    if (members <= MAX_CACHED_MEMBERS) this.kept.views.put(this.connection, realmId, version, views);
    return views;
  }

  async findView(realmId: RealmId, id: GroupId): Promise<GroupView | null> {
    return (await this.toViews(realmId, await this.view.all(id, realmId)))[0] ?? null;
  }

  async listNamed(realmId: RealmId): Promise<readonly Group[]> {
    return this.toGroups(await this.namedRows.all(realmId));
  }

  async list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]> {
    return this.toGroups(await this.rows.all(realmId, ids));
  }

  async listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return await this.anonymousIds.all(realmId);
  }

  async removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void> {
    this.contentChanged(realmId, ids);
    let removed = 0;
    for (const command of this.deleteHolders) removed += (await command.run(ids, realmId)).changes;
    this.deleteAnonymous.defer(ids, realmId);
    if (removed > 0) this.uncountHolders.defer(removed, realmId);
  }

  async countNamed(realmId: RealmId): Promise<number> {
    return (await this.namedCount.get(realmId))!;
  }

  async countMemberships(realmId: RealmId): Promise<number> {
    return (await this.membershipCount.get(realmId))!;
  }

  async countPermissionHolders(realmId: RealmId): Promise<number> {
    return (await this.permissionHolderCount.get(realmId))!;
  }

  async filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.directAmong.all(id, realmId, [...userIds]);
  }

  async listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]> {
    return await this.subgroupIds.all(id, realmId);
  }

  private async toViews(realmId: RealmId, rows: readonly ViewRow[]): Promise<readonly GroupView[]> {
    const groups = await this.toGroups(rows);
    const granted = new Set(groups.flatMap(({ permissions }) => Object.values(permissions ?? {})));
    const values = await this.settingValues(realmId, [...granted]);
    return groups.map((group, index) => ({
      ...group,
      name: group.name!,
      permissions: groupSettingValues(GROUP_PERMISSIONS, group.permissions, values),
      memberIds: rows[index]!.member_ids,
      subgroupIds: rows[index]!.subgroup_ids,
    }));
  }

  async settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>> {
    const values = new Map<GroupId, GroupSettingValue>();
    if (ids.length === 0) return values;
    for (const [id, members, subgroups] of await this.values.all(ids, realmId)) {
      values.set(id, members === null ? id : anonymousValue(`${members}/${subgroups}`));
    }
    return values;
  }

  async listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]> {
    if (ids.length === 0) return [];
    const members = new Set<UserId>();
    for (const some of slicesOf(await this.heldIds.all(realmId, [...ids]), GROUPS_AT_A_TIME)) {
      for (const id of await this.activeMembers.all([...some])) members.add(id);
      await this.connection.yield();
    }
    return [...members].sort(ascending);
  }

  async listDirectIds(realmId: RealmId, userId: UserId): Promise<readonly GroupId[]> {
    return await this.directIds.all(userId, realmId);
  }

  async listDirectMembers(realmId: RealmId, id: GroupId): Promise<readonly UserId[]> {
    return await this.directMembers.all(id, realmId);
  }

  async listEdges(realmId: RealmId): Promise<readonly { readonly subgroupId: GroupId; readonly groupId: GroupId }[]> {
    return (await this.edges.all(realmId)).map(([subgroupId, groupId]) => ({ subgroupId, groupId }));
  }

  async listDeactivatedIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return await this.deactivatedIds.all(realmId);
  }

  /** Adds a group. @throws DomainError GROUP_NAME_TAKEN if another group, even a deactivated one, has the name */
  async add(group: Omit<Group, 'id'>, memberIds: readonly UserId[], subgroupIds: readonly GroupId[]): Promise<Group> {
    this.changed(group.realmId);
    const id = await this.insert.get(group.realmId, ...fromGroup(group));
    if (id === undefined) throw groupNameTaken(group.name!);
    await this.putMembers(group.realmId, id, memberIds);
    if (subgroupIds.length > 0) await this.putSubgroups(group.realmId, id, subgroupIds);
    return { ...group, id };
  }

  /** Adds a group. @throws DomainError GROUP_NAME_TAKEN if another group, even a deactivated one, has the name */
  async update(group: Group): Promise<void> {
    this.changed(group.realmId);
    const { changes } = await this.store.run(...fromGroup(group), group.id, group.realmId);
    if (changes > 0) return;
    if (await this.row.get(group.id, group.realmId)) throw groupNameTaken(group.name!);
    throw new Error(`Realm ${group.realmId} has no group ${group.id}`);
  }

  async addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.contentChanged(realmId, [id]);
    return (await this.putMembers(realmId, id, userIds)).sort(ascending);
  }

  /** Returns the users who were not members before. */
  private async putMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<UserId[]> {
    const added: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of await this.insertMembers.all([...some], id, realmId)) added.push(userId);
      await this.connection.yield();
    }
    this.count(realmId, id, added.length);
    return added;
  }

  async removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.contentChanged(realmId, [id]);
    const removed: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of await this.deleteMembers.all(id, realmId, [...some])) removed.push(userId);
      await this.connection.yield();
    }
    this.count(realmId, id, -removed.length);
    return removed.sort(ascending);
  }

  async addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    return (await this.putSubgroups(realmId, id, subgroupIds)).sort(ascending);
  }

  private async putSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<GroupId[]> {
    const added = await this.insertSubgroups.all([...subgroupIds], id, realmId);
    if (added.length > 0) this.countHolders.defer(added.length, realmId, id);
    return added;
  }

  async removeSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    const removed = (await this.deleteSubgroups.all(id, realmId, [...subgroupIds])).sort(ascending);
    if (removed.length > 0) this.countHolders.defer(-removed.length, realmId, id);
    return removed;
  }

  /** Adjusts the member count of a group of any kind. */
  private count(realmId: RealmId, id: GroupId, members: number): void {
    if (members === 0) return;
    this.countMembers.defer(members, realmId, id);
    this.countHolders.defer(members, realmId, id);
  }

  /** Records that memberships may have changed. */
  private changed(realmId: RealmId): void {
    this.connection.disableCaching();
    this.raiseVersion.defer(realmId);
  }

  /** Records that the content of existing groups changed. */
  private contentChanged(realmId: RealmId, ids: readonly GroupId[]): void {
    this.connection.disableCaching();
    this.raiseVersions.defer(ids, realmId);
  }

  private async toGroups(rows: readonly GroupRow[]): Promise<Group[]> {
    const groups: Group[] = [];
    for (const row of rows) groups.push(await this.toGroup(row));
    return groups;
  }

  private async toGroup(row: GroupRow): Promise<Group> {
    const { permissions, id, realm_id } = row;
    if (permissions === null) return toGroup(row, null);
    const nobodyOf = () => this.nobodyOf(realm_id);
    return toGroup(row, await readPermissions(groupPermissions, permissions, id, this.quarantine, nobodyOf));
  }
}

interface ViewRow extends GroupRow {
  readonly member_ids: readonly UserId[];
  readonly subgroup_ids: readonly GroupId[];
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly groups: PostgresGroupRepository;
  }
}

export const GROUP_FEATURE = {
  schema: 'groups',
  realmTables: ['group_subgroup', 'group_member', 'user_group'],
  shared: ({ quarantine }) => {
    const kept = newKeptGroups();
    return (connection) => ({ groups: new PostgresGroupRepository(connection, kept, quarantine) });
  },
  repositories:
    () =>
    (_, { groups }) => ({ groups }),
} satisfies PostgresFeature;
