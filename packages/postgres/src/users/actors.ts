import { type Actor, type ActorReads, ROLES, type Role } from '@parley/domain/access';
import { DomainError, type GroupId, type RealmId, type UserId } from '@parley/domain/kernel';
import { ascending, type Flag, newSharedSets, type Quarantine, VersionedCache } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

/** Cache by versions of the user and of the realm's groups. */
export type ActorCache = VersionedCache<string, Actor>;

export class PostgresActorReads implements ActorReads {
  private readonly entries;
  private readonly entry;
  private readonly people;
  private readonly memberships;
  private readonly edges;
  /** Recently read closures; users with equal memberships share one set. */
  private readonly sets = newSharedSets<GroupId>();

  constructor(
    private readonly connection: Connection,
    private readonly cache: ActorCache,
    private readonly known: KnownVersions<string, UserId>,
    private readonly quarantine: Quarantine,
  ) {
    const version = `u.version || '/' || r.groups_version`;
    const active = 'FROM "user" u JOIN realm r ON r.id = u.realm_id WHERE u.realm_id = $1 AND u.is_active = 1';
    this.entry = connection.values<string>(`SELECT ${version} ${active} AND u.id = $2`);
    this.entries = connection.tuples<[UserId, string]>(
      `SELECT u.id, ${version} ${active} AND u.id = ANY($2) ORDER BY u.id`,
    );
    this.people = connection.rows<UserSummaryRow>(
      `SELECT id, realm_id, role, bot_kind IS NOT NULL AS is_bot, bot_owner_id
       FROM "user" WHERE id = ANY($1)`,
    );
    this.memberships = connection.tuples<[UserId, string]>(
      `SELECT user_id, string_agg(group_id::text, ',' ORDER BY group_id) FROM group_member
       WHERE user_id = ANY($1) GROUP BY user_id`,
    );
    // Walks upwards from the groups, but not through deactivated ones, which convey no membership.
    this.edges = connection.tuples<[GroupId, GroupId]>(
      `WITH RECURSIVE reached (id) AS (
         SELECT unnest($1::bigint[])
         UNION
         SELECT s.group_id
         FROM reached r
         JOIN user_group g ON g.id = r.id AND g.is_deactivated = 0
         JOIN group_subgroup s ON s.subgroup_id = r.id
       )
       SELECT s.subgroup_id, s.group_id
       FROM reached r
       JOIN user_group g ON g.id = r.id AND g.is_deactivated = 0
       JOIN group_subgroup s ON s.subgroup_id = r.id`,
    );
  }

  async get({ realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId }): Promise<Actor> {
    const version = await this.known.of(this.connection, realmId, userId, () => this.entry.get(realmId, userId));
    if (version === undefined) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    const cached = this.cache.get(userId, version);
    if (cached) return cached;
    return (await this.load([[userId, version]]))[0]!;
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>> {
    const actors = new Map<UserId, Actor>();
    const missing: [UserId, string][] = [];
    const known = await this.known.findAll(this.connection, realmId, userIds);
    const unknown = userIds.filter((id) => !known.has(id));
    const read = unknown.length === 0 ? [] : await this.entries.all(realmId, unknown);
    await this.known.learn(this.connection, realmId, read);
    for (const [id, version] of [...known, ...read].sort(([a], [b]) => a - b)) {
      const cached = this.cache.get(id, version);
      if (cached) actors.set(id, cached);
      else missing.push([id, version]);
    }
    if (missing.length > 0) for (const actor of await this.load(missing)) actors.set(actor.id, actor);
    return actors;
  }

  private async load(entries: readonly (readonly [UserId, string])[]): Promise<Actor[]> {
    const ids = entries.map(([id]) => id);
    const versions = new Map(entries);
    const groups = await this.groupsOf(ids);
    return (await this.people.all(ids)).map((row) => {
      const actor = this.toActor(row, groups.get(row.id) ?? this.setOf([]));
      this.cache.put(this.connection, row.id, versions.get(row.id)!, actor);
      return actor;
    });
  }

  /** Computes each combination of direct groups once, because many users share it. */
  private async groupsOf(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, ReadonlySet<GroupId>>> {
    const direct = await this.memberships.all(userIds);
    const kinds = new Map(direct.map(([, groupIds]) => [groupIds, idsIn(groupIds)]));
    const holders = new Map<GroupId, GroupId[]>();
    for (const [subgroupId, groupId] of await this.edges.all([...new Set([...kinds.values()].flat())])) {
      const existing = holders.get(subgroupId);
      if (existing) existing.push(groupId);
      else holders.set(subgroupId, [groupId]);
    }
    const sets = new Map([...kinds].map(([text, groupIds]) => [text, this.setOf(reachable(groupIds, holders))]));
    return new Map(direct.map(([userId, groupIds]) => [userId, sets.get(groupIds)!]));
  }

  private setOf(groupIds: readonly GroupId[]): ReadonlySet<GroupId> {
    const key = groupIds.join();
    let set = this.sets.get(key);
    if (!set) {
      set = new Set(groupIds);
      this.sets.set(key, set);
    }
    return set;
  }

  private toActor(row: UserSummaryRow, groups: ReadonlySet<GroupId>): Actor {
    return {
      id: row.id,
      realmId: row.realm_id,
      role: this.quarantine.word(row.role, ROLES, 'guest', 'user', row.id, 'role'),
      isBot: row.is_bot === 1,
      botOwnerId: row.bot_owner_id,
      groups,
    };
  }
}

const idsIn = (list: string): readonly GroupId[] => list.split(',').map((id) => Number(id) as GroupId);

/** Returns the groups and all groups that contain them, ascending. */
function reachable(
  groupIds: readonly GroupId[],
  holders: ReadonlyMap<GroupId, readonly GroupId[]>,
): readonly GroupId[] {
  const found = new Set(groupIds);
  // Set iteration includes elements added during the loop.
  for (const id of found) for (const holder of holders.get(id) ?? []) found.add(holder);
  return [...found].sort(ascending);
}

interface UserSummaryRow {
  readonly id: UserId;
  readonly realm_id: RealmId;
  readonly role: Role;
  readonly is_bot: Flag;
  readonly bot_owner_id: UserId | null;
}

export const ACTOR_FEATURE = {
  repositories: ({ quarantine }) => {
    const cache: ActorCache = new VersionedCache(20_000);
    const known = new KnownVersions<string, UserId>(20_000);
    return (connection) => ({ actors: new PostgresActorReads(connection, cache, known, quarantine) });
  },
} satisfies PostgresFeature;
