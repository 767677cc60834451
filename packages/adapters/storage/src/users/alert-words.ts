import { foldCase, type RealmId, type UserId } from '@parley/domain/kernel';
import type { AlertWordRepository } from '@parley/domain/users';
import { alertSegment } from '@parley/domain/writing';
import type { FeatureTables } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import { grouped } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

export class SqlAlertWordRepository implements AlertWordRepository {
  private readonly ofUser;
  private readonly any;
  private readonly bySegment;
  private readonly insert;
  private readonly delete;

  constructor(private readonly statements: Statements) {
    this.ofUser = statements.values<string>(
      'SELECT word FROM alert_word WHERE user_id = ? AND realm_id = ? ORDER BY id',
    );
    this.any = statements.values<number>(
      "SELECT EXISTS (SELECT 1 FROM alert_word WHERE realm_id = ? AND segment >= '')",
    );
    this.bySegment = statements.tuples<readonly [string, UserId]>(
      `SELECT w.word_key, w.user_id FROM ${statements.dialect.elements('text')} CROSS JOIN alert_word w
       WHERE w.realm_id = ? AND w.segment = value
       ORDER BY w.word_key, w.user_id`,
    );
    this.insert = statements.command(
      `INSERT INTO alert_word (realm_id, user_id, word, word_key, segment) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id, word_key) DO NOTHING`,
    );
    this.delete = statements.command('DELETE FROM alert_word WHERE user_id = ? AND word_key = ? AND realm_id = ?');
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly string[]> {
    return await this.ofUser.all(userId, realmId);
  }

  async hasAny(realmId: RealmId): Promise<boolean> {
    return (await this.anyIn(realmId)) === 1;
  }

  protected anyIn(realmId: RealmId): number | undefined | Promise<number | undefined> {
    return this.any.get(realmId);
  }

  async listBySegment(
    realmId: RealmId,
    segments: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly UserId[]>> {
    const rows = await this.bySegment.all(this.statements.dialect.set(segments), realmId);
    return new Map([...grouped(rows, ([word]) => word)].map(([word, found]) => [word, found.map(([, id]) => id)]));
  }

  async add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    this.statements.disableCaching();
    for (const word of words) this.insert.defer(realmId, userId, word, foldCase(word), alertSegment(word));
  }

  async remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    this.statements.disableCaching();
    for (const word of words) this.delete.defer(userId, foldCase(word), realmId);
  }
}

/** Alert word tables in both databases. */
export const ALERT_WORD_TABLES = {
  schema: 'alert-words',
  steps: {
    1: `
-- Alert words of users.

CREATE TABLE alert_word (
  id {rowId},
  realm_id {int} NOT NULL REFERENCES realm (id),
  user_id {int} NOT NULL,
  word {text} NOT NULL,
  -- The word in lower case.
  word_key {text} NOT NULL,
  -- Lookup key used by messages, see alertSegments in the domain.
  segment {text} NOT NULL
) {strict};
CREATE UNIQUE INDEX alert_word_by_user ON alert_word (user_id, word_key);
CREATE INDEX alert_word_by_segment ON alert_word (realm_id, segment, word_key, user_id);
`,
  },
  realmTables: ['alert_word'],
  persons: {
    alert_word: { data: 'Alert words', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
  },
} satisfies FeatureTables;
