import type { GroupSettingValue, SystemGroupName } from '@parley/domain/access';
import { type Group, type GroupRepository, type GroupView, groupNameTaken } from '@parley/domain/groups';
import { foldCase, type GroupId, type RealmId, slicesOf, type UserId } from '@parley/domain/kernel';
import { fromGroup, type GroupRow } from '../group-rows.js';
import { ascending } from '../rows.js';
import type { Parameter, Statements } from '../statements.js';

/** Members written per step before yielding. */
const MEMBERS_AT_A_TIME = 500;
/** Groups whose members are read per step before yielding. */
const GROUPS_AT_A_TIME = 5;

/** All but versions, what is cached by them, and reads of many members, which each database does in its own way. */
export abstract class SqlGroupRepository implements GroupRepository {
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

  constructor(private readonly statements: Statements) {
    const { inSet, elements } = statements.dialect;
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
    this.raiseVersions = statements.command(
      `UPDATE realm
       SET groups_version = groups_version + 1,
           setting_values_version = setting_values_version + CAST(EXISTS (
             SELECT 1 FROM user_group
             WHERE id ${inSet} AND +realm_id = realm.id AND name_key IS NULL) AS integer)
       WHERE id = ?`,
    );
  }

  abstract systemGroupIds(realmId: RealmId): Promise<Readonly<Record<SystemGroupName, GroupId>>>;
  abstract listViews(realmId: RealmId): Promise<readonly GroupView[]>;
  abstract findView(realmId: RealmId, id: GroupId): Promise<GroupView | null>;
  abstract settingValues(realmId: RealmId, ids: readonly GroupId[]): Promise<ReadonlyMap<GroupId, GroupSettingValue>>;
  protected abstract toGroups(rows: readonly GroupRow[]): readonly Group[] | Promise<readonly Group[]>;

  async find(realmId: RealmId, id: GroupId): Promise<Group | null> {
    const row = await this.row.get(id, realmId);
    return row ? (await this.toGroups([row]))[0]! : null;
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

  async removeAnonymous(realmId: RealmId, ids: readonly GroupId[]): Promise<void> {
    this.contentChanged(realmId, ids);
    const some = this.set(ids);
    let removed = 0;
    for (const command of this.deleteHolders) removed += (await command.run(some, realmId)).changes;
    this.deleteAnonymous.defer(some, realmId);
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
    this.contentChanged(realmId, [id]);
    return (await this.putMembers(realmId, id, userIds)).sort(ascending);
  }

  /** Returns the users who were not members before. */
  private async putMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<UserId[]> {
    const added: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of await this.insertMembers.all(this.set(some), id, realmId)) added.push(userId);
      await this.statements.yield();
    }
    this.count(realmId, id, added.length);
    return added;
  }

  async removeMembers(realmId: RealmId, id: GroupId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    this.contentChanged(realmId, [id]);
    const removed: UserId[] = [];
    for (const some of slicesOf(userIds, MEMBERS_AT_A_TIME)) {
      for (const userId of await this.deleteMembers.all(id, realmId, this.set(some))) removed.push(userId);
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

  /** Records that memberships may have changed. */
  private changed(realmId: RealmId): void {
    this.statements.disableCaching();
    this.raiseVersion.defer(realmId);
  }

  /** Records that the content of existing groups changed. */
  private contentChanged(realmId: RealmId, ids: readonly GroupId[]): void {
    this.statements.disableCaching();
    this.raiseVersions.defer(this.set(ids), realmId);
  }

  private set(values: readonly (number | string)[]): Parameter {
    return this.statements.dialect.set(values);
  }
}
