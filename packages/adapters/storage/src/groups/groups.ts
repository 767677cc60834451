import type { GroupSettingValue, SystemGroupName } from '@parley/domain/access';
import {
  GROUP_PERMISSIONS,
  type Group,
  type GroupRepository,
  type GroupView,
  groupNameTaken,
} from '@parley/domain/groups';
import { firstOf, foldCase, type GroupId, type RealmId, slicesOf, type UserId } from '@parley/domain/kernel';
import type { Quarantine } from '../engine/quarantine.js';
import { ascending, ColumnQuery, idList, withNobody } from '../engine/rows.js';
import type { Parameter, Statements } from '../engine/statements.js';
import { VersionedCache } from '../engine/versioned-cache.js';
import { fromGroup, type GroupRow, groupPermissions, toGroup, type ValueRow, type ViewRow } from './group-rows.js';
import { anonymousValue, groupSettingValues } from './group-values.js';

/** Members written per step before yielding. */
const MEMBERS_AT_A_TIME = 500;
/** Groups whose members are read per step before yielding. */
const GROUPS_AT_A_TIME = 5;

/** Maximum number of members cached per realm (one or two megabytes); larger realms are read each time. */
const MAX_CACHED_MEMBERS = 200_000;
/** Version of immutable ids. */
const ALWAYS = 0;

type SystemGroupIds = Readonly<Record<SystemGroupName, GroupId>>;

/** Caches of all connections, by realm. */
export const newGroupCaches = () => ({
  systemGroups: new VersionedCache<number, SystemGroupIds>(10_000),
  /** All named groups, by groups version. */
  views: new VersionedCache<number, readonly GroupView[]>(20),
  leanViews: new VersionedCache<number, readonly GroupView[]>(20),
});

export class SqlGroupRepository implements GroupRepository {
  private readonly groupsVersion;
  private readonly systemIds;
  private readonly views;
  private readonly leanViews;
  private readonly view;
  private readonly values;
  private readonly valuesVersion;
  private readonly row;
  private readonly rowsByName;
  private readonly rows;
  private readonly namedRows;
  private readonly namedCount;
  private readonly membershipCount;
  private readonly countMembers;
  private readonly permissionHolderCount;
  private readonly countHolders;
  private readonly anonymousIds;
  private readonly idOfOne;
  private readonly idsOfOne;
  private readonly share;
  private readonly deleteHolders;
  private readonly deleteAnonymous;
  private readonly uncountHolders;
  private readonly directAmong;
  private readonly subgroupIds;
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
  private readonly raiseVersionsForMembers;
  private readonly raiseMembers;

  constructor(
    private readonly statements: Statements,
    private readonly caches: ReturnType<typeof newGroupCaches>,
    private readonly quarantine: Quarantine,
  ) {
    const { inSet, elements, list } = statements.dialect;
    this.groupsVersion = statements.values<number>('SELECT groups_version FROM realm WHERE id = ?');
    this.systemIds = statements.tuples<[SystemGroupName, GroupId]>(
      'SELECT system_name, id FROM user_group WHERE realm_id = ? AND system_name IS NOT NULL',
    );
    const memberIds = (ids: string) =>
      `(SELECT ${ids} FROM group_member m JOIN "user" u ON u.id = m.user_id AND u.is_active = 1 WHERE m.group_id = g.id)`;
    const subgroupIds = (ids: string) => `(SELECT ${ids} FROM group_subgroup s WHERE s.group_id = g.id)`;
    // Lists as texts, so that ten thousand members cost one row. Only active users count.
    const viewWith = (members: string) =>
      `SELECT g.*, ${members} AS member_ids, ${subgroupIds(list('s.subgroup_id'))} AS subgroup_ids
       FROM user_group g`;
    const members = memberIds(list('m.user_id'));
    const view = viewWith(members);
    const leanView = viewWith(`CASE WHEN g.system_name = 'everyone' THEN '[]' ELSE ${members} END`);
    const ofRealm = 'WHERE g.realm_id = ? AND g.name_key IS NOT NULL ORDER BY g.id';
    this.views = statements.rows<ViewRow>(`${view} ${ofRealm}`);
    this.leanViews = statements.rows<ViewRow>(`${leanView} ${ofRealm}`);
    this.view = statements.rows<ViewRow>(`${view} WHERE g.id = ? AND g.realm_id = ? AND g.name_key IS NOT NULL`);
    const ofAnonymous = (ids: string) => `CASE WHEN g.name_key IS NULL THEN coalesce(${ids}, '') END`;
    this.values = new ColumnQuery<ValueRow>(
      statements,
      ['id', 'member_ids', 'subgroup_ids'],
      `SELECT g.id, ${ofAnonymous(memberIds("string_agg(CAST(m.user_id AS text), ',')"))} AS member_ids,
         ${ofAnonymous(subgroupIds("string_agg(CAST(s.subgroup_id AS text), ',')"))} AS subgroup_ids
       FROM user_group g WHERE g.id ${inSet} AND +g.realm_id = ?`,
    );
    this.valuesVersion = statements.values<number>('SELECT setting_values_version FROM realm WHERE id = ?');
    this.row = statements.rows<GroupRow>('SELECT * FROM user_group WHERE id = ? AND realm_id = ?');
    this.rowsByName = statements.rows<GroupRow>(
      `SELECT * FROM user_group WHERE realm_id = ? AND name_key ${inSet} ORDER BY id`,
    );
    this.rows = statements.rows<GroupRow>(`SELECT * FROM user_group WHERE +realm_id = ? AND id ${inSet} ORDER BY id`);
    this.namedRows = statements.rows<GroupRow>(
      'SELECT * FROM user_group WHERE realm_id = ? AND name_key IS NOT NULL ORDER BY id',
    );
    this.namedCount = statements.values<number>(
      'SELECT count(*) FROM user_group WHERE realm_id = ? AND name_key IS NOT NULL',
    );
    this.membershipCount = statements.values<number>('SELECT membership_count FROM realm WHERE id = ?');
    this.countMembers = statements.command(
      `UPDATE realm SET membership_count = membership_count + ?
       WHERE id = ? AND EXISTS (
         SELECT 1 FROM user_group WHERE id = ? AND name_key IS NOT NULL AND system_name IS NULL)`,
    );
    this.permissionHolderCount = statements.values<number>('SELECT permission_holder_count FROM realm WHERE id = ?');
    this.countHolders = statements.command(
      `UPDATE realm SET permission_holder_count = permission_holder_count + ?
       WHERE id = ? AND EXISTS (SELECT 1 FROM user_group WHERE id = ? AND name_key IS NULL)`,
    );
    this.anonymousIds = statements.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = ? AND name_key IS NULL ORDER BY id',
    );
    this.idOfOne = statements.values<GroupId>('SELECT id FROM user_group WHERE realm_id = ? AND sole_member_id = ?');
    this.idsOfOne = statements.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = ? AND sole_member_id IS NOT NULL ORDER BY id',
    );
    this.share = statements.command('UPDATE user_group SET sole_member_id = ? WHERE id = ? AND realm_id = ?');
    const anonymous = `SELECT id FROM user_group WHERE id ${inSet} AND +realm_id = ? AND name_key IS NULL`;
    this.deleteHolders = [
      `DELETE FROM group_member WHERE group_id IN (${anonymous})`,
      `DELETE FROM group_subgroup WHERE group_id IN (${anonymous})`,
    ].map((sql) => statements.command(sql));
    this.deleteAnonymous = statements.command(`DELETE FROM user_group WHERE id IN (${anonymous})`);
    this.uncountHolders = statements.command(
      'UPDATE realm SET permission_holder_count = permission_holder_count - ? WHERE id = ?',
    );
    this.directAmong = statements.values<UserId>(
      `SELECT user_id FROM group_member
       WHERE group_id = ? AND +realm_id = ? AND user_id ${inSet} ORDER BY user_id`,
    );
    this.subgroupIds = statements.values<GroupId>(
      'SELECT subgroup_id FROM group_subgroup WHERE group_id = ? AND +realm_id = ? ORDER BY subgroup_id',
    );
    this.heldIds = statements.values<GroupId>(
      `WITH RECURSIVE closure (id) AS (
         SELECT id FROM user_group WHERE +realm_id = ? AND id ${inSet}
         UNION
         SELECT g.id
         FROM closure c
         JOIN group_subgroup s ON s.group_id = c.id
         JOIN user_group g ON g.id = s.subgroup_id AND g.is_deactivated = 0
       )
       SELECT id FROM closure`,
    );
    // CROSS JOIN keeps the order from groups to members instead of from all users to their groups.
    this.activeMembers = statements.values<UserId>(
      `SELECT u.id FROM ${elements('bigint')} CROSS JOIN group_member m CROSS JOIN "user" u
       WHERE m.group_id = value AND u.id = m.user_id AND u.is_active = 1`,
    );
    this.directIds = statements.values<GroupId>(
      'SELECT group_id FROM group_member WHERE user_id = ? AND realm_id = ? ORDER BY group_id',
    );
    this.directMembers = statements.values<UserId>(
      'SELECT user_id FROM group_member WHERE group_id = ? AND realm_id = ? ORDER BY user_id',
    );
    this.edges = statements.tuples<[GroupId, GroupId]>(
      'SELECT subgroup_id, group_id FROM group_subgroup WHERE realm_id = ?',
    );
    this.deactivatedIds = statements.values<GroupId>(
      'SELECT id FROM user_group WHERE realm_id = ? AND is_deactivated = 1 ORDER BY id',
    );
    this.insert = statements.values<GroupId>(
      `INSERT INTO user_group (realm_id, is_deactivated, name, name_key, description, system_name, creator_id,
                               created_at, permissions)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.store = statements.command(
      `UPDATE user_group
       SET is_deactivated = ?, name = ?, name_key = ?, description = ?, system_name = ?, creator_id = ?, created_at = ?,
           permissions = ?
       WHERE id = ? AND realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM user_group o WHERE o.realm_id = ? AND o.name_key = ? AND o.id <> ?)`,
    );
    // Joined with both tables, so ids of another realm are treated as unknown.
    this.insertMembers = statements.values<UserId>(
      `INSERT INTO group_member (group_id, user_id, realm_id)
       SELECT g.id, u.id, g.realm_id
       FROM user_group g JOIN "user" u ON +u.realm_id = g.realm_id AND u.id ${inSet}
       WHERE g.id = ? AND g.realm_id = ?
       ON CONFLICT DO NOTHING RETURNING user_id`,
    );
    this.deleteMembers = statements.values<UserId>(
      `DELETE FROM group_member
       WHERE group_id = ? AND realm_id = ? AND user_id ${inSet}
       RETURNING user_id`,
    );
    this.insertSubgroups = statements.values<GroupId>(
      `INSERT INTO group_subgroup (group_id, subgroup_id, realm_id)
       SELECT g.id, s.id, g.realm_id
       FROM user_group g JOIN user_group s ON +s.realm_id = g.realm_id AND s.id ${inSet}
       WHERE g.id = ? AND g.realm_id = ?
       ON CONFLICT DO NOTHING RETURNING subgroup_id`,
    );
    this.deleteSubgroups = statements.values<GroupId>(
      `DELETE FROM group_subgroup
       WHERE group_id = ? AND +realm_id = ? AND subgroup_id ${inSet}
       RETURNING subgroup_id`,
    );
    this.raiseVersion = statements.command('UPDATE realm SET groups_version = groups_version + 1 WHERE id = ?');
    const raisingVersions = (alsoSet: string) =>
      statements.command(
        `UPDATE realm
         SET groups_version = groups_version + 1, ${alsoSet}
             setting_values_version = setting_values_version + CAST(EXISTS (
               SELECT 1 FROM user_group
               WHERE id ${inSet} AND +realm_id = realm.id AND name_key IS NULL) AS integer)
         WHERE id = ?`,
      );
    this.raiseVersions = raisingVersions('');
    this.raiseVersionsForMembers = raisingVersions('member_changes = member_changes + 1,');
    this.raiseMembers = statements.command(
      `UPDATE "user" SET groups_version = groups_version + 1 WHERE id ${inSet} AND +realm_id = ?`,
    );
  }

  /** Changes when a user joins or leaves a group and when a member is deactivated or reactivated. */
  protected versionOf(realmId: RealmId): number | undefined | Promise<number | undefined> {
    return this.groupsVersion.get(realmId);
  }

  /** Changes when `settingValues` changes for an existing group; membership of named groups has no effect on it. */
  async valuesVersionOf(realmId: RealmId): Promise<number> {
    return (await this.valuesVersion.get(realmId)) ?? 0;
  }

  /** Reads the ids once, because system groups are created with their realm and keep their ids. */
  async systemGroupIds(realmId: RealmId): Promise<SystemGroupIds> {
    const { systemGroups } = this.caches;
    const cached = systemGroups.get(realmId, ALWAYS);
    if (cached) return cached;
    const ids = Object.fromEntries(await this.systemIds.all(realmId)) as SystemGroupIds;
    systemGroups.put(this.statements, realmId, ALWAYS, ids);
    return ids;
  }

  /**
   * Returns the substitute for an unreadable group. In a realm without system groups this is 0, which is never a group
   * id.
   */
  async nobodyOf(realmId: RealmId): Promise<GroupId> {
    return (await this.systemIds.all(realmId)).find(([name]) => name === 'nobody')?.[1] ?? (0 as GroupId);
  }

  listViews(realmId: RealmId): Promise<readonly GroupView[]> {
    return this.cachedViews(realmId, 'views');
  }

  listLeanViews(realmId: RealmId): Promise<readonly GroupView[]> {
    return this.cachedViews(realmId, 'leanViews');
  }

  private async cachedViews(realmId: RealmId, form: 'views' | 'leanViews'): Promise<readonly GroupView[]> {
    const cache = this.caches[form];
    const version = (await this.versionOf(realmId)) ?? 0;
    const cached = cache.get(realmId, version);
    if (cached) return cached;
    const views = await this.toViews(realmId, await this[form].all(realmId));
    const members = views.reduce((sum, { memberIds }) => sum + memberIds.length, 0);
    if (members <= MAX_CACHED_MEMBERS) cache.put(this.statements, realmId, version, views);
    return views;
  }

  async findView(realmId: RealmId, id: GroupId): Promise<GroupView | null> {
    return (await this.toViews(realmId, await this.view.all(id, realmId)))[0] ?? null;
  }

  private async toViews(realmId: RealmId, rows: readonly ViewRow[]): Promise<readonly GroupView[]> {
    const groups = await this.toGroups(rows);
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
    const values = new Map<GroupId, GroupSettingValue>();
    if (ids.length === 0) return values;
    const { id, member_ids, subgroup_ids } = await this.values.columns(this.set(ids), realmId);
    for (let n = 0; n < id.length; n++) {
      const members = member_ids[n]!;
      values.set(id[n]!, members === null ? id[n]! : anonymousValue(`${members}/${subgroup_ids[n]}`));
    }
    return values;
  }

  /** Converts rows of one realm. */
  private toGroups(rows: readonly GroupRow[]): Promise<readonly Group[]> {
    return withNobody(
      (nobody) =>
        rows.map((row) => {
          const { permissions: json, id } = row;
          return toGroup(row, json === null ? null : groupPermissions.fromJson(json, id, this.quarantine, nobody));
        }),
      () => this.nobodyOf(firstOf(rows).realm_id),
    );
  }

  async find(realmId: RealmId, id: GroupId): Promise<Group | null> {
    const row = await this.row.get(id, realmId);
    return row ? firstOf(await this.toGroups([row])) : null;
  }

  async findByName(realmId: RealmId, name: string): Promise<Group | null> {
    return (await this.listByName(realmId, [name]))[0] ?? null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Group[]> {
    return this.toGroups(await this.rowsByName.all(realmId, this.set(names.map(foldCase))));
  }

  async listNamed(realmId: RealmId): Promise<readonly Group[]> {
    return this.toGroups(await this.namedRows.all(realmId));
  }

  async list(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly Group[]> {
    return this.toGroups(await this.rows.all(realmId, this.set(ids)));
  }

  async listAnonymousIds(realmId: RealmId): Promise<readonly GroupId[]> {
    return await this.anonymousIds.all(realmId);
  }

  async findOfOne(realmId: RealmId, userId: UserId): Promise<GroupId | null> {
    return (await this.idOfOne.get(realmId, userId)) ?? null;
  }

  async listIdsOfOne(realmId: RealmId): Promise<readonly GroupId[]> {
    return await this.idsOfOne.all(realmId);
  }

  async shareOfOne(realmId: RealmId, userId: UserId, id: GroupId): Promise<void> {
    this.share.defer(userId, id, realmId);
  }

  async removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void> {
    this.contentChanged(realmId, ids);
    const some = this.set(ids);
    let removed = 0;
    for (const command of this.deleteHolders) removed += (await command.run(some, realmId)).changes;
    this.deleteAnonymous.defer(some, realmId);
    if (removed > 0) this.uncountHolders.defer(removed, realmId);
  }

  async countNamed(realmId: RealmId): Promise<number> {
    return await this.namedCount.one(realmId);
  }

  async countMemberships(realmId: RealmId): Promise<number> {
    return await this.membershipCount.one(realmId);
  }

  async countPermissionHolders(realmId: RealmId): Promise<number> {
    return await this.permissionHolderCount.one(realmId);
  }

  async filterDirectMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return await this.directAmong.all(id, realmId, this.set(userIds));
  }

  async listSubgroupIds(realmId: RealmId, id: GroupId): Promise<readonly GroupId[]> {
    return await this.subgroupIds.all(id, realmId);
  }

  async listMembersRecursively(realmId: RealmId, ids: readonly GroupId[]): Promise<readonly UserId[]> {
    if (ids.length === 0) return [];
    const members = new Set<UserId>();
    for (const some of slicesOf(await this.heldIds.all(realmId, this.set(ids)), GROUPS_AT_A_TIME)) {
      for (const id of await this.activeMembers.all(this.set(some))) members.add(id);
      await this.statements.yield();
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
    // A new group without subgroups contains its direct members only.
    if (subgroupIds.length > 0) this.changed(group.realmId);
    else this.membersChanged(group.realmId, []);
    const id = await this.insert.get(group.realmId, ...fromGroup(group));
    if (id === undefined) throw groupNameTaken(group.name!);
    await this.putMembers(group.realmId, id, memberIds);
    if (subgroupIds.length > 0) await this.putSubgroups(group.realmId, id, subgroupIds);
    return { ...group, id };
  }

  /** Updates a group. @throws DomainError GROUP_NAME_TAKEN if another group, even a deactivated one, has the name */
  async update(group: Group): Promise<void> {
    this.changed(group.realmId);
    const { changes } = await this.store.run(
      ...fromGroup(group),
      ...[group.id, group.realmId],
      ...[group.realmId, group.name && foldCase(group.name), group.id],
    );
    if (changes > 0) return;
    if (await this.row.get(group.id, group.realmId)) throw groupNameTaken(group.name!);
    throw new Error(`Realm ${group.realmId} has no group ${group.id}`);
  }

  async addMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.membersChanged(realmId, [id]);
    return (await this.putMembers(realmId, id, userIds)).sort(ascending);
  }

  /** Returns the users who were not members before. */
  private async putMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<UserId[]> {
    const added: UserId[] = [];
    for (const slice of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      const some = this.set(slice);
      for (const userId of await this.insertMembers.all(some, id, realmId)) added.push(userId);
      this.raiseMembers.defer(some, realmId);
      await this.statements.yield();
    }
    this.count(realmId, id, added.length);
    return added;
  }

  async removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.membersChanged(realmId, [id]);
    const removed: UserId[] = [];
    for (const slice of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      const some = this.set(slice);
      for (const userId of await this.deleteMembers.all(id, realmId, some)) removed.push(userId);
      this.raiseMembers.defer(some, realmId);
      await this.statements.yield();
    }
    this.count(realmId, id, -removed.length);
    return removed.sort(ascending);
  }

  async addSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    return (await this.putSubgroups(realmId, id, subgroupIds)).sort(ascending);
  }

  private async putSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<GroupId[]> {
    const added = await this.insertSubgroups.all(this.set(subgroupIds), id, realmId);
    if (added.length > 0) this.countHolders.defer(added.length, realmId, id);
    return added;
  }

  async removeSubgroups(realmId: RealmId, id: GroupId, subgroupIds: readonly GroupId[]): Promise<readonly GroupId[]> {
    this.contentChanged(realmId, [id]);
    const removed = (await this.deleteSubgroups.all(id, realmId, this.set(subgroupIds))).sort(ascending);
    if (removed.length > 0) this.countHolders.defer(-removed.length, realmId, id);
    return removed;
  }

  /** Adjusts the member count of a group of any kind. */
  private count(realmId: RealmId, id: GroupId, members: number): void {
    if (members === 0) return;
    this.countMembers.defer(members, realmId, id);
    this.countHolders.defer(members, realmId, id);
  }

  /** Records that memberships of any user may have changed. */
  private changed(realmId: RealmId): void {
    this.statements.disableCaching();
    this.raiseVersion.defer(realmId);
  }

  /** Records joins and leaves, which also change the versions of these users. */
  private membersChanged(realmId: RealmId, existingIds: readonly GroupId[]): void {
    this.statements.disableCaching();
    this.raiseVersionsForMembers.defer(this.set(existingIds), realmId);
  }

  /** Records changes of existing groups that leave the versions of users unchanged. */
  private contentChanged(realmId: RealmId, ids: readonly GroupId[]): void {
    this.statements.disableCaching();
    this.raiseVersions.defer(this.set(ids), realmId);
  }

  private set(values: readonly (number | string)[]): Parameter {
    return this.statements.dialect.set(values);
  }
}
