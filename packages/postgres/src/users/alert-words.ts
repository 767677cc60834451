import { foldCase, type RealmId, type UserId } from '@parley/domain/kernel';
import { alertSegment } from '@parley/domain/messages';
import type { AlertWordRepository } from '@parley/domain/users';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';

export class PostgresAlertWordRepository implements AlertWordRepository {
  private readonly ofUser;
  private readonly any;
  private readonly bySegment;
  private readonly insert;
  private readonly delete;

  constructor(
    private readonly connection: Connection,
    /** 1 if a realm has any. */
    private readonly known: KnownVersions<number>,
  ) {
    this.ofUser = connection.values<string>(
      'SELECT word FROM alert_word WHERE user_id = $1 AND realm_id = $2 ORDER BY id',
    );
    this.any = connection.values<number>(
      "SELECT EXISTS (SELECT 1 FROM alert_word WHERE realm_id = $1 AND segment >= '')",
    );
    this.bySegment = connection.tuples<readonly [string, UserId]>(
      `SELECT word_key, user_id FROM alert_word WHERE segment = ANY($1) AND realm_id = $2
       ORDER BY word_key, user_id`,
    );
    this.insert = connection.command(
      `INSERT INTO alert_word (realm_id, user_id, word, word_key, segment) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id, word_key) DO NOTHING`,
    );
    this.delete = connection.command('DELETE FROM alert_word WHERE user_id = $1 AND word_key = $2 AND realm_id = $3');
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly string[]> {
    return await this.ofUser.all(userId, realmId);
  }

  async hasAny(realmId: RealmId): Promise<boolean> {
    return (await this.known.of(this.connection, realmId, realmId, () => this.any.get(realmId))) === 1;
  }

  async listBySegment(
    realmId: RealmId,
    segments: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly UserId[]>> {
    const found = new Map<string, UserId[]>();
    for (const [word, userId] of await this.bySegment.all([...segments], realmId)) {
      const existing = found.get(word);
      if (existing) existing.push(userId);
      else found.set(word, [userId]);
    }
    return found;
  }

  async add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    this.connection.disableCaching();
    for (const word of words) this.insert.defer(realmId, userId, word, foldCase(word), alertSegment(word));
  }

  async remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    this.connection.disableCaching();
    for (const word of words) this.delete.defer(userId, foldCase(word), realmId);
  }
}

export const ALERT_WORD_FEATURE = {
  schema: 'alert-words',
  realmTables: ['alert_word'],
  repositories: () => {
    const known = new KnownVersions<number>(10_000);
    return (connection) => ({ alertWords: new PostgresAlertWordRepository(connection, known) });
  },
} satisfies PostgresFeature;
