import type { GroupSettingValue, SystemGroupName } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group, type GroupView } from '@parley/domain/groups';
import type { GroupId, RealmId, UserId } from '@parley/domain/kernel';
import {
  anonymousValue,
  type GroupRow,
  groupPermissions,
  groupSettingValues,
  type Quarantine,
  SqlGroupRepository,
  toGroup,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { readPermissions } from '../engine/permissions.js';
import { VALUES, type ValueTuple } from './group-values.js';
import { type KeptGroups, newKeptGroups, type SystemGroupIds } from './kept-groups.js';

/** Maximum number of members cached per realm (one or two megabytes); larger realms are read each time. */
const MAX_CACHED_MEMBERS = 200_000;
/** Version of ids that never change. */
const ALWAYS = 0;

/** Ids of members who are active users. */
const MEMBER_IDS = `(
  SELECT coalesce(array_agg(m.user_id ORDER BY m.user_id), '{}') FROM group_member m JOIN "user" u ON u.id = m.user_id AND u.is_active = 1
  WHERE m.group_id = g.id
)`;
const SUBGROUP_IDS = `(
  SELECT coalesce(array_agg(s.subgroup_id ORDER BY s.subgroup_id), '{}') FROM group_subgroup s WHERE s.group_id = g.id
)`;

export class PostgresGroupRepository extends SqlGroupRepository {
  private readonly groupsVersion;
  private readonly systemIds;
  private readonly views;
  private readonly view;
  private readonly values;
  private readonly valuesVersion;

  constructor(
    private readonly connection: Connection,
    private readonly kept: KeptGroups,
    private readonly quarantine: Quarantine,
  ) {
    super(connection);
    this.groupsVersion = connection.values<number>('SELECT groups_version FROM realm WHERE id = $1');
    this.systemIds = connection.tuples<[SystemGroupName, GroupId]>(
      'SELECT system_name, id FROM user_group WHERE realm_id = $1 AND system_name IS NOT NULL',
    );
    const view = `SELECT g.*, ${MEMBER_IDS} AS member_ids, ${SUBGROUP_IDS} AS subgroup_ids FROM user_group g`;
    this.views = connection.rows<ViewRow>(`${view} WHERE g.realm_id = $1 AND g.name_key IS NOT NULL ORDER BY g.id`);
    this.view = connection.rows<ViewRow>(`${view} WHERE g.id = $1 AND g.realm_id = $2 AND g.name_key IS NOT NULL`);
    this.values = connection.tuples<ValueTuple>(VALUES);
    this.valuesVersion = connection.values<number>('SELECT setting_values_version FROM realm WHERE id = $1');
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

  protected async toGroups(rows: readonly GroupRow[]): Promise<Group[]> {
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
