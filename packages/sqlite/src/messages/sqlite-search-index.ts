import type { SearchIndex, SearchIndexReads } from '@parley/domain/messages';
import { type Connection, LIMIT } from '../engine/connection.js';

/** Whoever adds messages adds their terms, and triggers keep them; this makes the index anew. */
export class SqliteSearchIndex implements SearchIndexReads, SearchIndex {
  private readonly backlog;
  private readonly setBacklog;
  private readonly newestId;
  private readonly clear;
  private readonly lowestOf;
  private readonly drop;
  private readonly insert;

  constructor(connection: Connection) {
    this.backlog = connection.values<number>('SELECT unindexed_up_to FROM search_backlog WHERE id = 1');
    this.setBacklog = connection.command('UPDATE search_backlog SET unindexed_up_to = ? WHERE id = 1');
    this.newestId = connection.values<number | null>('SELECT max(id) FROM message');
    this.clear = connection.command("INSERT INTO message_search (message_search) VALUES ('delete-all')");
    this.lowestOf = connection.values<number | null>(
      `SELECT min(id) FROM (SELECT id FROM message WHERE id <= ? ORDER BY id DESC ${LIMIT})`,
    );
    // What was edited meanwhile is there already.
    this.drop = connection.command(
      'DELETE FROM message_search WHERE rowid IN (SELECT id FROM message WHERE id BETWEEN ? AND ?)',
    );
    this.insert = connection.command(
      `INSERT INTO message_search (rowid, terms)
       SELECT id, message_terms(realm_id, sender_id, recipient_id, topic_key, topic, rendered_content)
       FROM message WHERE id BETWEEN ? AND ?`,
    );
  }

  async unindexedUpTo(): Promise<number> {
    return this.backlog.get() ?? 0;
  }

  async reset(): Promise<void> {
    this.clear.run();
    this.setBacklog.run(this.newestId.get() ?? 0);
  }

  async indexSome(limit: number): Promise<boolean> {
    const last = await this.unindexedUpTo();
    const first = last === 0 ? null : (this.lowestOf.get(last, limit) ?? null);
    if (first !== null) {
      this.drop.run(first, last);
      this.insert.run(first, last);
    }
    const left = first === null ? 0 : first - 1;
    if (left !== last) this.setBacklog.run(left);
    return left > 0;
  }
}
