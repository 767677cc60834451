import { type Actor, ROLES, type Role } from '@parley/domain/access';
import { DomainError, type GroupId, getOrThrow, type RealmId, type UserId } from '@parley/domain/kernel';
import type { Quarantine } from '../engine/quarantine.js';
import { ascending, type Flag } from '../engine/rows.js';
import type { MaybePromise, Parameter, Statements } from '../engine/statements.js';
import { newSharedSets } from '../engine/text-cache.js';
import type { VersionedCache } from '../engine/versioned-cache.js';

/** Cache by `ACTOR_VERSION`. */
export type ActorCache = VersionedCache<string, Actor>;

/** SQL of the versions of a user `u`, of their direct groups, and of the subgroups in the realm `r`. */
export const ACTOR_VERSION = "u.version || '/' || u.groups_version || '/' || (r.groups_version - r.member_changes)";

/** Reads users with all groups that contain them, and caches them. */
export class ActorLoader {
  private readonly people;
  private readonly memberships;
  private readonly edges;
  /** Recently read closures; users with equal memberships share one set. */
  private readonly sets = newSharedSets<GroupId>();

  constructor(
    private readonly connection: Statements,
    private readonly cache: ActorCache,
    private readonly quarantine: Quarantine,
  ) {
    const { inSet, elements } = connection.dialect;
    this.people = connection.rows<UserSummaryRow>(
      `SELECT id, realm_id, role, bot_kind IS NOT NULL AS is_bot, bot_owner_id FROM "user" WHERE id ${inSet}`,
    );
    this.memberships = connection.tuples<[UserId, string]>(
      `SELECT user_id, string_agg(CAST(group_id AS text), ',' ORDER BY group_id) FROM group_member
       WHERE user_id ${inSet} GROUP BY user_id`,
    );
    // Walks upwards from the groups, but not through deactivated ones, which convey no membership.
    this.edges = connection.tuples<[GroupId, GroupId]>(
      `WITH RECURSIVE reached (id) AS (
         SELECT value FROM ${elements('bigint')}
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

  private async load(entries: readonly (readonly [UserId, string])[]): Promise<Actor[]> {
    const ids = this.connection.dialect.set(entries.map(([id]) => id));
    const versions = new Map(entries);
    const groups = await this.groupsOf(ids);
    return (await this.people.all(ids)).map((row) => {
      const actor = this.toActor(row, groups.get(row.id) ?? this.setOf([]));
      this.cache.put(this.connection, row.id, getOrThrow(versions, row.id), actor);
      return actor;
    });
  }

  /** @param version undefined for unknown and deactivated users. @throws DomainError USER_DEACTIVATED */
  get(id: UserId, version: string | undefined): MaybePromise<Actor> {
    if (version === undefined) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    return this.cache.get(id, version) ?? this.load([[id, version]]).then(([actor]) => actor!);
  }

  /** @param entries ids with versions */
  async list(entries: Iterable<readonly [UserId, string]>): Promise<ReadonlyMap<UserId, Actor>> {
    const actors = new Map<UserId, Actor>();
    const missing: (readonly [UserId, string])[] = [];
    for (const entry of entries) {
      const cached = this.cache.get(...entry);
      if (cached) actors.set(entry[0], cached);
      else missing.push(entry);
    }
    if (missing.length > 0) for (const actor of await this.load(missing)) actors.set(actor.id, actor);
    return actors;
  }

  /** Computes each combination of direct groups once, because many users share it. */
  private async groupsOf(userIds: Parameter): Promise<ReadonlyMap<UserId, ReadonlySet<GroupId>>> {
    const direct = await this.memberships.all(userIds);
    const kinds = new Map(direct.map(([, groupIds]) => [groupIds, idsIn(groupIds)]));
    const holders = new Map<GroupId, GroupId[]>();
    for (const [subgroupId, groupId] of await this.edges.all(
      this.connection.dialect.set(new Set([...kinds.values()].flat())),
    )) {
      const existing = holders.get(subgroupId);
      if (existing) existing.push(groupId);
      else holders.set(subgroupId, [groupId]);
    }
    const sets = new Map([...kinds].map(([text, groupIds]) => [text, this.setOf(reachable(groupIds, holders))]));
    return new Map(direct.map(([userId, groupIds]) => [userId, getOrThrow(sets, groupIds)]));
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
