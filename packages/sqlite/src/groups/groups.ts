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
  idList,
  jsonList,
  type Quarantine,
  toGroup,
  VersionedCache,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { refusingTaken } from '../engine/rows.js';
import { VALUES } from './group-values.js';

type SystemGroupIds = Readonly<Record<SystemGroupName, GroupId>>;
/** Cache by realm and version of its groups. */
export type SystemGroupCache = VersionedCache<number, SystemGroupIds>;

/** Cache of all named groups of a realm by version of its groups. */
export type GroupViewsCache = VersionedCache<number, readonly GroupView[]>;
/** Maximum number of members cached per realm (one or two megabytes); larger realms are read each time. */
const MAX_CACHED_MEMBERS = 200_000;
/** Members written per step before yielding. */
const MEMBERS_AT_A_TIME = 500;
/** Groups whose members are read per step before yielding. */
const GROUPS_AT_A_TIME = 5;

/** Lists as JSON, so that ten thousand members cost one row. Only active users count. */
const MEMBER_IDS = `(
  SELECT json_group_array(m.user_id) FROM group_member m JOIN user u ON u.id = m.user_id AND u.is_active = 1
  WHERE m.group_id = g.id
)`;
const SUBGROUP_IDS = '(SELECT json_group_array(s.subgroup_id) FROM group_subgroup s WHERE s.group_id = g.id)';

export class SqliteGroupRepository implements GroupRepository {
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
    private readonly systemGroups: SystemGroupCache,
    private readonly viewsOfRealms: GroupViewsCache,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows<GroupRow>('SELECT * FROM user_group WHERE id = ? AND realm_id = ?');
    this.rowsByName = connection.rows<GroupRow>(
      'SELECT * FROM user_group WHERE realm_id = ? AND name_key IN (SELECT value FROM json_each(?)) ORDER BY id',
    );
    this.groupsVersion = connection.values<number>('SELECT groups_version FROM realm WHERE id = ?');
    this.systemIds = connection.tuples<[SystemGroupName, GroupId]>(
      'SELECT system_name, id FROM user_group WHERE realm_id = ? AND system_name IS NOT NULL',
    );
    const view = `SELECT g.*, ${MEMBER_IDS} AS member_ids, ${SUBGROUP_IDS} AS subgroup_ids FROM user_group g`;
    this.views = connection.rows<ViewRow>(`${view} WHERE g.realm_id = ? AND g.name_key IS NOT NULL ORDER BY g.id`);
    this.view = connection.rows<ViewRow>(`${view} WHERE g.id = ? AND g.realm_id = ? AND g.name_key IS NOT NULL`);
    this.rows = connection.rows<GroupRow>(
      'SELECT * FROM user_group WHERE +realm_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id',
    );
    this.namedRows = connection.rows<GroupRow>(
      'SELECT * FROM user_group WHERE realm_id = ? AND name_key IS NOT NULL ORDER BY id',
    );
    this.namedCount = connection.values<number>(
      'SELECT count(*) FROM user_group WHERE realm_id = ? AND name_key IS NOT NULL',
    );
    this.membershipCount = connection.values<number>('SELECT membership_count FROM realm WHERE id = ?');
    this.countMembers = connection.command(
      `UPDATE realm SET membership_count = membership_count + ?
       WHERE id = ? AND EXISTS (
         SELECT 1 FROM user_group WHERE id = ? AND name_key IS NOT NULL AND system_name IS NULL)`,
    );
    this.permissionHolderCount = connection.values<number>('SELECT permission_holder_count FROM realm WHERE id = ?');
    this.countHolders = connection.command(
      `UPDATE realm SET permission_holder_count = permission_holder_count + ?
       WHERE id = ? AND EXISTS (SELECT 1 FROM user_group WHERE id = ? AND name_key IS NULL)`,
    );
    this.anonymousIds = connection.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = ? AND name_key IS NULL ORDER BY id',
    );
    const anonymous =
      'SELECT id FROM user_group WHERE id IN (SELECT value FROM json_each(?)) AND +realm_id = ? AND name_key IS NULL';
    this.deleteHolders = [
      `DELETE FROM group_member WHERE group_id IN (${anonymous})`,
      `DELETE FROM group_subgroup WHERE group_id IN (${anonymous})`,
    ].map((sql) => connection.command(sql));
    this.deleteAnonymous = connection.command(`DELETE FROM user_group WHERE id IN (${anonymous})`);
    this.uncountHolders = connection.command(
      'UPDATE realm SET permission_holder_count = permission_holder_count - ? WHERE id = ?',
    );
    this.directAmong = connection.values<UserId>(
      `SELECT user_id FROM group_member
       WHERE group_id = ? AND +realm_id = ? AND user_id IN (SELECT value FROM json_each(?)) ORDER BY user_id`,
    );
    this.subgroupIds = connection.values<GroupId>(
      'SELECT subgroup_id FROM group_subgroup WHERE group_id = ? AND +realm_id = ? ORDER BY subgroup_id',
    );
    this.values = connection.tuples<string[]>(VALUES.sql);
    this.heldIds = connection.values<GroupId>(
      `WITH RECURSIVE closure (id) AS (
         SELECT id FROM user_group WHERE +realm_id = ? AND id IN (SELECT value FROM json_each(?))
         UNION
         SELECT g.id
         FROM closure c
         JOIN group_subgroup s ON s.group_id = c.id
         JOIN user_group g ON g.id = s.subgroup_id AND g.is_deactivated = 0
       )
       SELECT id FROM closure`,
    );
    // CROSS JOIN keeps the order from groups to members instead of from all users to their groups.
    this.activeMembers = connection.values<UserId>(
      `SELECT u.id FROM json_each(?) some
       CROSS JOIN group_member m ON m.group_id = some.value
       CROSS JOIN user u ON u.id = m.user_id AND u.is_active = 1`,
    );
    this.directIds = connection.values<GroupId>(
      'SELECT group_id FROM group_member WHERE user_id = ? AND realm_id = ? ORDER BY group_id',
    );
    this.directMembers = connection.values<UserId>(
      'SELECT user_id FROM group_member WHERE group_id = ? AND realm_id = ? ORDER BY user_id',
    );
    this.edges = connection.tuples<[GroupId, GroupId]>(
      'SELECT subgroup_id, group_id FROM group_subgroup WHERE realm_id = ?',
    );
    this.deactivatedIds = connection.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = ? AND is_deactivated = 1 ORDER BY id',
    );
    this.insert = connection.values<GroupId>(
      `INSERT INTO user_group (realm_id, is_deactivated, name, name_key, description, system_name, creator_id,
                               created_at, permissions)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.store = connection.command(
      `UPDATE user_group
       SET is_deactivated = ?, name = ?, name_key = ?, description = ?, system_name = ?, creator_id = ?, created_at = ?,
           permissions = ?
       WHERE id = ? AND realm_id = ?`,
    );
    // Joined with both tables, so ids of another realm are treated as unknown.
    this.insertMembers = connection.values<UserId>(
      `INSERT OR IGNORE INTO group_member (group_id, user_id, realm_id)
       SELECT g.id, u.id, g.realm_id
       FROM user_group g JOIN user u ON +u.realm_id = g.realm_id AND u.id IN (SELECT value FROM json_each(?))
       WHERE g.id = ? AND g.realm_id = ?
       RETURNING user_id`,
    );
    this.deleteMembers = connection.values<UserId>(
      `DELETE FROM group_member
       WHERE group_id = ? AND realm_id = ? AND user_id IN (SELECT value FROM json_each(?))
       RETURNING user_id`,
    );
    this.insertSubgroups = connection.values<GroupId>(
      `INSERT OR IGNORE INTO group_subgroup (group_id, subgroup_id, realm_id)
       SELECT g.id, s.id, g.realm_id
       FROM user_group g JOIN user_group s ON +s.realm_id = g.realm_id AND s.id IN (SELECT value FROM json_each(?))
       WHERE g.id = ? AND g.realm_id = ?
       RETURNING subgroup_id`,
    );
    this.deleteSubgroups = connection.values<GroupId>(
      `DELETE FROM group_subgroup
       WHERE group_id = ? AND +realm_id = ? AND subgroup_id IN (SELECT value FROM json_each(?))
       RETURNING subgroup_id`,
    );
    this.raiseVersion = connection.command('UPDATE realm SET groups_version = groups_version + 1 WHERE id = ?');
    this.raiseVersions = connection.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           setting_values_version = setting_values_version + EXISTS (
             SELECT 1 FROM user_group
             WHERE id IN (SELECT value FROM json_each(?)) AND +realm_id = realm.id AND name_key IS NULL)
       WHERE id = ?`,
    );
    this.valuesVersion = connection.values<number>('SELECT setting_values_version FROM realm WHERE id = ?');
  }

  async find(realmId: RealmId, id: GroupId): Promise<Group | null> {
    const row = this.row.get(id, realmId);
    return row ? this.toGroup(row) : null;
  }

  async findByName(realmId: RealmId, name: string): Promise<Group | null> {
    return (await this.listByName(realmId, [name]))[0] ?? null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]> {
    return this.rowsByName.all(realmId, jsonList(names.map(foldCase))).map(this.toGroup);
  }

  /** Changes when a user joins or leaves a group and when a member is deactivated or reactivated. */
  versionOf(realmId: RealmId): number {
    return this.groupsVersion.get(realmId) ?? 0;
  }

  /** Changes when `settingValues` changes for an existing group; membership of named groups has no effect on it. */
  valuesVersionOf(realmId: RealmId): number {
    return this.valuesVersion.get(realmId) ?? 0;
  }

  async systemGroupIds(realmId: RealmId): Promise<SystemGroupIds> {
    const version = this.versionOf(realmId);
    const cached = this.systemGroups.get(realmId, version);
    if (cached) return cached;
    const ids = Object.fromEntries(this.systemIds.all(realmId)) as SystemGroupIds;
    this.systemGroups.put(this.connection, realmId, version, ids);
    return ids;
  }

  /** Returns the substitute for an unreadable group; 0, which is never a group id, in a realm without system groups. */
  nobodyOf(realmId: RealmId): GroupId {
    return this.systemIds.all(realmId).find(([name]) => name === 'nobody')?.[1] ?? (0 as GroupId);
  }

  async listViews(realmId: RealmId): Promise<readonly GroupView[]> {
    const version = this.versionOf(realmId);
    const cached = this.viewsOfRealms.get(realmId, version);
    if (cached) return cached;
    const views = await this.toViews(realmId, this.views.all(realmId));
    const members = views.reduce((sum, { memberIds }) => sum + memberIds.length, 0);
    if (members <= MAX_CACHED_MEMBERS) this.viewsOfRealms.put(this.connection, realmId, version, views);
    return views;
  }

  async findView(realmId: RealmId, id: GroupId): Promise<GroupView | null> {
    return (await this.toViews(realmId, this.view.all(id, realmId)))[0] ?? null;
  }

  async listNamed(realmId: RealmId): Promise<readonly Group[]> {
    return this.namedRows.all(realmId).map(this.toGroup);
  }

  async list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]> {
    return this.rows.all(realmId, jsonList(ids)).map(this.toGroup);
  }

  async listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return this.anonymousIds.all(realmId);
  }

  async removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void> {
    this.contentChanged(realmId, ids);
    const parameters = [jsonList(ids), realmId] as const;
    const removed = this.deleteHolders.reduce((sum, command) => sum + command.run(...parameters).changes, 0);
    this.deleteAnonymous.run(...parameters);
    if (removed > 0) this.uncountHolders.run(removed, realmId);
  }

  async countNamed(realmId: RealmId): Promise<number> {
    return this.namedCount.get(realmId)!;
  }

  async countMemberships(realmId: RealmId): Promise<number> {
    return this.membershipCount.get(realmId)!;
  }

  async countPermissionHolders(realmId: RealmId): Promise<number> {
    return this.permissionHolderCount.get(realmId)!;
  }

  async filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return this.directAmong.all(id, realmId, jsonList(userIds));
  }

  async listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]> {
    return this.subgroupIds.all(id, realmId);
  }

  private async toViews(realmId: RealmId, rows: readonly ViewRow[]): Promise<readonly GroupView[]> {
    const groups = rows.map(this.toGroup);
    const granted = new Set(groups.flatMap(({ permissions }) => Object.values(permissions ?? {})));
    const values = await this.settingValues(realmId, [...granted]);
    return groups.map((group, index) => ({
      ...group,
      name: group.name!,
      permissions: groupSettingValues(GROUP_PERMISSIONS, group.permissions, values),
      memberIds: idList(rows[index]!.member_ids),
      subgroupIds: idList(rows[index]!.subgroup_ids),
    }));
  }

  async settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>> {
    const { id, member_ids, subgroup_ids } = VALUES.parse(this.values.get(jsonList(ids), realmId)!);
    const values = new Map<GroupId, GroupSettingValue>();
    for (let n = 0; n < id.length; n++) {
      const members = member_ids[n]!;
      values.set(id[n]!, members === null ? id[n]! : anonymousValue(`${members}/${subgroup_ids[n]}`));
    }
    return values;
  }

  async listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]> {
    if (ids.length === 0) return [];
    const members = new Set<UserId>();
    for (const some of slicesOf(this.heldIds.all(realmId, jsonList(ids)), GROUPS_AT_A_TIME)) {
      for (const id of this.activeMembers.all(jsonList(some))) members.add(id);
      await this.connection.yield();
    }
    return [...members].sort(ascending);
  }

  async listDirectIds(realmId: RealmId, userId: UserId): Promise<readonly GroupId[]> {
    return this.directIds.all(userId, realmId);
  }

  async listDirectMembers(realmId: RealmId, id: GroupId): Promise<readonly UserId[]> {
    return this.directMembers.all(id, realmId);
  }

  async listEdges(realmId: RealmId): Promise<readonly { readonly subgroupId: GroupId; readonly groupId: GroupId }[]> {
    return this.edges.all(realmId).map(([subgroupId, groupId]) => ({ subgroupId, groupId }));
  }

  async listDeactivatedIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return this.deactivatedIds.all(realmId);
  }

  /** Adds a group. @throws DomainError GROUP_NAME_TAKEN if another group, even a deactivated one, has the name */
  async add(group: Omit<Group, 'id'>, memberIds: readonly UserId[], subgroupIds: readonly GroupId[]): Promise<Group> {
    this.changed(group.realmId);
    const id = refusingTaken(
      () => groupNameTaken(group.name!),
      () => this.insert.get(group.realmId, ...fromGroup(group))!,
    );
    await this.putMembers(group.realmId, id, memberIds);
    if (subgroupIds.length > 0) this.putSubgroups(group.realmId, id, subgroupIds);
    return { ...group, id };
  }

  /** Adds a group. @throws DomainError GROUP_NAME_TAKEN if another group, even a deactivated one, has the name */
  async update(group: Group): Promise<void> {
    this.changed(group.realmId);
    refusingTaken(
      () => groupNameTaken(group.name!),
      () => {
        const { changes } = this.store.run(...fromGroup(group), group.id, group.realmId);
        if (changes === 0) throw new Error(`Realm ${group.realmId} has no group ${group.id}`);
      },
    );
  }

  async addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.contentChanged(realmId, [id]);
    return (await this.putMembers(realmId, id, userIds)).sort(ascending);
  }

  /** Returns the users who were not members before. */
  private async putMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<UserId[]> {
    const added: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of this.insertMembers.all(jsonList(some), id, realmId)) added.push(userId);
      await this.connection.yield();
    }
    this.count(realmId, id, added.length);
    return added;
  }

  async removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.contentChanged(realmId, [id]);
    const removed: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of this.deleteMembers.all(id, realmId, jsonList(some))) removed.push(userId);
      await this.connection.yield();
    }
    this.count(realmId, id, -removed.length);
    return removed.sort(ascending);
  }

  async addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    return this.putSubgroups(realmId, id, subgroupIds).sort(ascending);
  }

  private putSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): GroupId[] {
    const added = this.insertSubgroups.all(jsonList(subgroupIds), id, realmId);
    if (added.length > 0) this.countHolders.run(added.length, realmId, id);
    return added;
  }

  async removeSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    const removed = this.deleteSubgroups.all(id, realmId, jsonList(subgroupIds)).sort(ascending);
    if (removed.length > 0) this.countHolders.run(-removed.length, realmId, id);
    return removed;
  }

  /** Adjusts the member count of a group of any kind. */
  private count(realmId: RealmId, id: GroupId, members: number): void {
    if (members === 0) return;
    this.countMembers.run(members, realmId, id);
    this.countHolders.run(members, realmId, id);
  }

  /** Records that memberships may have changed. */
  private changed(realmId: RealmId): void {
    this.connection.disableCaching();
    this.raiseVersion.run(realmId);
  }

  /** Records that the content of existing groups changed. */
  private contentChanged(realmId: RealmId, ids: readonly GroupId[]): void {
    this.connection.disableCaching();
    this.raiseVersions.run(jsonList(ids), realmId);
  }

  private readonly toGroup = (row: GroupRow): Group => {
    const { permissions, id, realm_id } = row;
    if (permissions === null) return toGroup(row, null);
    return toGroup(
      row,
      groupPermissions.fromJson(permissions, id, this.quarantine, () => this.nobodyOf(realm_id)),
    );
  };
}

interface ViewRow extends GroupRow {
  readonly member_ids: string;
  readonly subgroup_ids: string;
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly groups: SqliteGroupRepository;
  }
}

export const GROUP_FEATURE = {
  schema: 'groups',
  realmTables: ['group_subgroup', 'group_member', 'user_group'],
  shared: ({ quarantine }) => {
    const systemGroups: SystemGroupCache = new VersionedCache(10_000);
    const views: GroupViewsCache = new VersionedCache(20);
    return (connection) => ({ groups: new SqliteGroupRepository(connection, systemGroups, views, quarantine) });
  },
  repositories:
    () =>
    (_, { groups }) => ({ groups }),
} satisfies SqliteFeature;
