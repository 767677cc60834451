import type { GroupSettingValue, SystemGroupName } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group, type GroupView } from '@parley/domain/groups';
import type { GroupId, RealmId } from '@parley/domain/kernel';
import {
  anonymousValue,
  type GroupRow,
  groupPermissions,
  groupSettingValues,
  idList,
  jsonList,
  type Quarantine,
  SqlGroupRepository,
  toGroup,
  VersionedCache,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { VALUES } from './group-values.js';

type SystemGroupIds = Readonly<Record<SystemGroupName, GroupId>>;
/** Cache by realm and version of its groups. */
export type SystemGroupCache = VersionedCache<number, SystemGroupIds>;

/** Cache of all named groups of a realm by version of its groups. */
export type GroupViewsCache = VersionedCache<number, readonly GroupView[]>;
/** Maximum number of members cached per realm (one or two megabytes); larger realms are read each time. */
const MAX_CACHED_MEMBERS = 200_000;

/** Lists as JSON, so that ten thousand members cost one row. Only active users count. */
const MEMBER_IDS = `(
  SELECT json_group_array(m.user_id) FROM group_member m JOIN user u ON u.id = m.user_id AND u.is_active = 1
  WHERE m.group_id = g.id
)`;
const SUBGROUP_IDS = '(SELECT json_group_array(s.subgroup_id) FROM group_subgroup s WHERE s.group_id = g.id)';

export class SqliteGroupRepository extends SqlGroupRepository {
  private readonly groupsVersion;
  private readonly systemIds;
  private readonly views;
  private readonly view;
  private readonly values;
  private readonly valuesVersion;

  constructor(
    private readonly connection: Connection,
    private readonly systemGroups: SystemGroupCache,
    private readonly viewsOfRealms: GroupViewsCache,
    private readonly quarantine: Quarantine,
  ) {
    super(asStatements(connection));
    this.groupsVersion = connection.values<number>('SELECT groups_version FROM realm WHERE id = ?');
    this.systemIds = connection.tuples<[SystemGroupName, GroupId]>(
      'SELECT system_name, id FROM user_group WHERE realm_id = ? AND system_name IS NOT NULL',
    );
    const view = `SELECT g.*, ${MEMBER_IDS} AS member_ids, ${SUBGROUP_IDS} AS subgroup_ids FROM user_group g`;
    this.views = connection.rows<ViewRow>(`${view} WHERE g.realm_id = ? AND g.name_key IS NOT NULL ORDER BY g.id`);
    this.view = connection.rows<ViewRow>(`${view} WHERE g.id = ? AND g.realm_id = ? AND g.name_key IS NOT NULL`);
    this.values = connection.tuples<string[]>(VALUES.sql);
    this.valuesVersion = connection.values<number>('SELECT setting_values_version FROM realm WHERE id = ?');
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

  private async toViews(realmId: RealmId, rows: readonly ViewRow[]): Promise<readonly GroupView[]> {
    const groups = this.toGroups(rows);
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

  protected toGroups(rows: readonly GroupRow[]): readonly Group[] {
    return rows.map(this.toGroup);
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
