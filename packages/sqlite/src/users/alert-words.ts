import { foldCase, type RealmId, type UserId } from '@parley/domain/kernel';
import { alertSegment } from '@parley/domain/messages';
import type { AlertWordRepository } from '@parley/domain/users';
import { jsonList } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteAlertWordRepository implements AlertWordRepository {
  private readonly ofUser;
  private readonly any;
  private readonly bySegment;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.ofUser = connection.values<string>(
      'SELECT word FROM alert_word WHERE user_id = ? AND realm_id = ? ORDER BY id',
    );
    this.any = connection.values<number>(
      "SELECT EXISTS (SELECT 1 FROM alert_word WHERE realm_id = ? AND segment >= '')",
    );
    this.bySegment = connection.tuples<readonly [string, UserId]>(
      `SELECT w.word_key, w.user_id FROM json_each(?) s CROSS JOIN alert_word w ON w.realm_id = ? AND w.segment = s.value
       ORDER BY w.word_key, w.user_id`,
    );
    this.insert = connection.command(
      `INSERT INTO alert_word (realm_id, user_id, word, word_key, segment) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id, word_key) DO NOTHING`,
    );
    this.delete = connection.command('DELETE FROM alert_word WHERE user_id = ? AND word_key = ? AND realm_id = ?');
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly string[]> {
    return this.ofUser.all(userId, realmId);
  }

  async hasAny(realmId: RealmId): Promise<boolean> {
    return this.any.get(realmId) === 1;
  }

  async listBySegment(
    realmId: RealmId,
    segments: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly UserId[]>> {
    const found = new Map<string, UserId[]>();
    for (const [word, userId] of this.bySegment.all(jsonList(segments), realmId)) {
      const existing = found.get(word);
      if (existing) existing.push(userId);
      else found.set(word, [userId]);
    }
    return found;
  }

  async add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    for (const word of words) this.insert.run(realmId, userId, word, foldCase(word), alertSegment(word));
  }

  async remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    for (const word of words) this.delete.run(userId, foldCase(word), realmId);
  }
}

export const ALERT_WORD_FEATURE = {
  schema: 'alert-words',
  realmTables: ['alert_word'],
  repositories: () => (connection) => ({ alertWords: new SqliteAlertWordRepository(connection) }),
} satisfies SqliteFeature;
