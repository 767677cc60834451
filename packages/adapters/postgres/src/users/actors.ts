import type { Actor, ActorReads, UserInRealm } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { ACTOR_VERSION, type ActorCache, ActorLoader, type Quarantine, VersionedCache } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export class PostgresActorReads implements ActorReads {
  private readonly entries;
  private readonly entry;
  private readonly author;
  private readonly loader;

  constructor(
    private readonly connection: Connection,
    cache: ActorCache,
    private readonly known: KnownVersions<string, UserId>,
    quarantine: Quarantine,
  ) {
    this.loader = new ActorLoader(connection, cache, quarantine);
    const people = 'FROM "user" u JOIN realm r ON r.id = u.realm_id WHERE u.realm_id = $1';
    const active = `${people} AND u.is_active = 1`;
    this.entry = connection.values<string>(`SELECT ${ACTOR_VERSION} ${active} AND u.id = $2`);
    this.author = connection.values<string>(`SELECT ${ACTOR_VERSION} ${people} AND u.id = $2`);
    this.entries = connection.tuples<[UserId, string]>(
      `SELECT u.id, ${ACTOR_VERSION} ${active} AND u.id = ANY($2) ORDER BY u.id`,
    );
  }

  async get(caller: UserInRealm): Promise<Actor> {
    return this.loader.get(caller.userId, await this.versionOf(caller));
  }

  async getAuthor(caller: UserInRealm): Promise<Actor> {
    const { realmId, userId } = caller;
    const version = (await this.versionOf(caller)) ?? (await this.author.get(realmId, userId));
    return this.loader.get(userId, version);
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>> {
    const known = await this.known.findAll(this.connection, realmId, userIds);
    const unknown = userIds.filter((id) => !known.has(id));
    const read = unknown.length === 0 ? [] : await this.entries.all(realmId, unknown);
    await this.known.learn(this.connection, realmId, read);
    return this.loader.list([...known, ...read].sort(([a], [b]) => a - b));
  }

  private versionOf({ realmId, userId }: UserInRealm): Promise<string | undefined> {
    return this.known.of(this.connection, realmId, userId, () => this.entry.get(realmId, userId));
  }
}

export const ACTOR_FEATURE = {
  repositories: ({ quarantine }) => {
    const cache: ActorCache = new VersionedCache(20_000);
    const known = new KnownVersions<string, UserId>(20_000);
    return (connection) => ({ actors: new PostgresActorReads(connection, cache, known, quarantine) });
  },
} satisfies PostgresFeature;
