import type { Actor, ActorReads, UserInRealm } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import {
  ACTOR_VERSION,
  type ActorCache,
  ActorLoader,
  jsonList,
  type Quarantine,
  VersionedCache,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

/** Separate from PostgreSQL's, which remembers versions between units to save the round trip of each request. */
export class SqliteActorReads implements ActorReads {
  private readonly entries;
  private readonly entry;
  private readonly author;
  private readonly loader;
  private readonly versions;

  constructor(connection: Connection, cache: ActorCache, quarantine: Quarantine) {
    this.versions = new KnownValues<string>(connection, 20_000);
    this.loader = new ActorLoader(asStatements(connection), cache, quarantine);
    const people = 'FROM user u JOIN realm r ON r.id = u.realm_id WHERE +u.realm_id = ?';
    const active = `${people} AND u.is_active = 1`;
    this.entry = connection.values<string>(`SELECT ${ACTOR_VERSION} ${active} AND u.id = ?`);
    this.author = connection.values<string>(`SELECT ${ACTOR_VERSION} ${people} AND u.id = ?`);
    this.entries = connection.tuples<[UserId, string]>(
      `SELECT u.id, ${ACTOR_VERSION} ${active} AND u.id IN (SELECT value FROM json_each(?)) ORDER BY u.id`,
    );
  }

  async get(caller: UserInRealm): Promise<Actor> {
    return this.loader.get(caller.userId, this.versionOf(caller));
  }

  async getAuthor(caller: UserInRealm): Promise<Actor> {
    const { realmId, userId } = caller;
    return this.loader.get(userId, this.versionOf(caller) ?? this.author.get(realmId, userId));
  }

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Actor>> {
    return this.loader.list(this.entries.all(realmId, jsonList(userIds)));
  }

  private versionOf({ realmId, userId }: UserInRealm): string | undefined {
    return this.versions.get(realmId, userId, () => this.entry.get(realmId, userId));
  }
}

export const ACTOR_FEATURE = {
  repositories: ({ quarantine }) => {
    const cache: ActorCache = new VersionedCache(20_000);
    return (connection) => ({ actors: new SqliteActorReads(connection, cache, quarantine) });
  },
} satisfies SqliteFeature;
