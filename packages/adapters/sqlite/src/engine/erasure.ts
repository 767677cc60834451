import type { Database } from 'better-sqlite3';

/** Target duration of a step, after which other units may run. */
const STEP_MS = 20;
/** Pages per statement, which takes a few milliseconds. */
const MERGED_PAGES = 16;
const VACUUMED_PAGES = 32;
/** Free pages that remain in the file for new rows; they contain zeros. */
const MAX_FREE_PAGES = 256;
/** Ids of FTS5's tombstone pages begin here (`FTS5_TOMBSTONE_ROWID` of fts5_index.c). */
const FIRST_TOMBSTONE = 2n ** 53n;
const INCREMENTAL = 2;

/**
 * Removes what deleted rows leave in the database file. SQLite overwrites rows and pages (`secure_delete`), but FTS5 keeps
 * the terms of a deleted row of a table without content until it merges the segment. Its `secure-delete` option has no
 * effect on such tables.
 */
export class Erasure {
  private isMerging = false;

  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /** Runs inside a transaction. Returns false when nothing is left to do. */
  step(): boolean {
    const endsAt = this.now() + STEP_MS;
    let isLeft = true;
    while (isLeft && this.now() < endsAt) isLeft = this.merge() || this.vacuum();
    return isLeft;
  }

  /** Merges a part of the index. Returns false once no segment has deleted rows. */
  private merge(): boolean {
    if (!this.isMerging) {
      const tombstones = 'SELECT EXISTS (SELECT 1 FROM message_search_data WHERE id >= ?)';
      if (this.database.prepare(tombstones).pluck().get(FIRST_TOMBSTONE) === 0) return false;
    }
    const before = this.totalChanges();
    // A negative number begins to merge all segments, a positive one continues (sqlite.org/fts5.html#the_optimize_command).
    this.database
      .prepare("INSERT INTO message_search (message_search, rank) VALUES ('merge', ?)")
      .run(this.isMerging ? MERGED_PAGES : -MERGED_PAGES);
    // Fewer than two changes mean that nothing was merged.
    this.isMerging = this.totalChanges() - before >= 2;
    return this.isMerging;
  }

  private totalChanges(): number {
    return this.database.prepare<[], number>('SELECT total_changes()').pluck().get()!;
  }

  /** Returns free pages to the file system. Returns false once few are left. */
  private vacuum(): boolean {
    const pragma = (name: string) => this.database.pragma(name, { simple: true }) as number;
    if (pragma('auto_vacuum') !== INCREMENTAL || pragma('freelist_count') <= MAX_FREE_PAGES) return false;
    this.database.pragma(`incremental_vacuum(${VACUUMED_PAGES})`);
    return true;
  }
}
