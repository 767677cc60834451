import { type Actor, type ActorReads, ROLES, type Role } from '@parley/domain/permissions';
import { DomainError, type GroupId, type RealmId, type UserId } from '@parley/domain/shared';
import type { Connection } from '../connection.js';
import type { Quarantine } from '../quarantine.js';
import { type Flag, jsonList } from '../rows.js';
import { VersionedCache } from '../versioned-cache.js';

/** Under the versions of the user and of the realm's groups. */
export type ActorCache = VersionedCache<string, Actor>;
export const newActorCache = (): ActorCache => new VersionedCache(20_000);

export class SqliteActorReads implements ActorReads {
  private readonly entries;
  private readonly entry;
  private readonly people;
  private readonly closures;
  /** The closures read last: most people are in the same groups as many others, and share one set. */
  private readonly sets = new Map<string, ReadonlySet<GroupId>>();

  constructor(
    private readonly connection: Connection,
    private readonly cache: ActorCache,
    private readonly quarantine: Quarantine,
  ) {
    const version = `u.version || '/' || r.groups_version`;
    const active = 'FROM user u JOIN realm r ON r.id = u.realm_id WHERE +u.realm_id = ? AND u.is_active = 1';
    this.entry = connection.values<string>(`SELECT ${version} ${active} AND u.id = ?`);
    this.entries = connection.tuples<[UserId, string]>(
      `SELECT u.id, ${version} ${active} AND u.id IN (SELECT value FROM json_each(?)) ORDER BY u.id`,
    );
    this.people = connection.rows<UserSummaryRow>(
      `SELECT id, realm_id, role, bot_kind IS NOT NULL AS is_bot, bot_owner_id
       FROM user WHERE id IN (SELECT value FROM json_each(?))`,
    );
    // Upward from the groups they are in directly, but not through a deactivated one: it passes nobody on.
    this.closures = connection.tuples<[UserId, string]>(
      `WITH RECURSIVE closure (user_id, group_id) AS (
         SELECT user_id, group_id FROM group_member WHERE user_id IN (SELECT value FROM json_each(?))
         UNION
         SELECT c.user_id, s.group_id
         FROM closure c
         JOIN user_group g ON g.id = c.group_id AND g.is_deactivated = 0
         JOIN group_subgroup s ON s.subgroup_id = c.group_id
       )
       SELECT user_id, group_concat(group_id ORDER BY group_id) FROM closure GROUP BY user_id`,
    );
  }

  async get({ realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId }): Promise<Actor> {
    const version = this.entry.get(realmId, userId);
    if (version === undefined) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    const cached = this.cache.get(userId, version);
    if (cached) return cached;
    return this.load([[userId, version]])[0]!;
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>> {
    const actors = new Map<UserId, Actor>();
    const missing: [UserId, string][] = [];
    for (const [id, version] of this.entries.all(realmId, jsonList(userIds))) {
      const cached = this.cache.get(id, version);
      if (cached) actors.set(id, cached);
      else missing.push([id, version]);
    }
    if (missing.length > 0) for (const actor of this.load(missing)) actors.set(actor.id, actor);
    return actors;
  }

  private load(entries: readonly (readonly [UserId, string])[]): Actor[] {
    const ids = jsonList(entries.map(([id]) => id));
    const versions = new Map(entries);
    const closures = new Map(this.closures.all(ids));
    return this.people.all(ids).map((row) => {
      const actor = this.toActor(row, this.setOf(closures.get(row.id) ?? ''));
      this.cache.put(this.connection, row.id, versions.get(row.id)!, actor);
      return actor;
    });
  }

  private setOf(groupIds: string): ReadonlySet<GroupId> {
    let set = this.sets.get(groupIds);
    if (!set) {
      set = new Set(groupIds === '' ? [] : groupIds.split(',').map((id) => Number(id) as GroupId));
      if (this.sets.size >= 1000) this.sets.clear();
      this.sets.set(groupIds, set);
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

interface UserSummaryRow {
  readonly id: UserId;
  readonly realm_id: RealmId;
  readonly role: Role;
  readonly is_bot: Flag;
  readonly bot_owner_id: UserId | null;
}
