import { lastOf, type MessageId, type RealmId } from '@parley/domain/kernel';
import type { SearchIndex, SearchIndexReads } from '@parley/domain/messages';
import type { MaybePromise, Statements } from '../engine/statements.js';

/** Maximum number of messages examined per batch to find those of one realm. */
const MAX_EXAMINED = 1000;
/** Maximum length of the messages indexed by one statement, in characters of HTML, excluding the last one. */
const MAX_INDEXED = 10_000;

type PendingMessage = readonly [id: MessageId, realmId: RealmId, length: number];

/** Returns the first messages, at least one of any length. */
function upToLength(messages: readonly PendingMessage[]): readonly PendingMessage[] {
  let total = 0;
  return messages.filter(([, , length], index) => {
    const isIncluded = index === 0 || total < MAX_INDEXED;
    total += length;
    return isIncluded;
  });
}

/** Rebuilds the search index. Repositories and triggers keep it current when messages change. */
export abstract class SqlSearchIndex implements SearchIndexReads, SearchIndex {
  private readonly pendingUpTo;
  private readonly setPending;
  private readonly pendingInRealm;
  private readonly pendingRealm;
  private readonly setPendingRealm;
  private readonly endPendingRealm;
  private readonly newestId;
  private readonly before;

  constructor(statements: Statements) {
    this.pendingUpTo = statements.values<number>('SELECT unindexed_up_to FROM search_backlog WHERE id = 1');
    this.setPending = statements.command('UPDATE search_backlog SET unindexed_up_to = ? WHERE id = 1');
    this.pendingInRealm = statements.values<number>(
      'SELECT unindexed_up_to FROM realm_search_backlog WHERE realm_id = ?',
    );
    this.pendingRealm = statements.tuples<readonly [RealmId, MessageId]>(
      'SELECT realm_id, unindexed_up_to FROM realm_search_backlog ORDER BY realm_id LIMIT 1',
    );
    this.setPendingRealm = statements.command(
      `INSERT INTO realm_search_backlog (realm_id, unindexed_up_to) VALUES (?, ?)
       ON CONFLICT (realm_id) DO UPDATE SET unindexed_up_to = excluded.unindexed_up_to`,
    );
    this.endPendingRealm = statements.command('DELETE FROM realm_search_backlog WHERE realm_id = ?');
    this.newestId = statements.values<MessageId | null>('SELECT max(id) FROM message');
    this.before = statements.tuples<PendingMessage>(
      'SELECT id, realm_id, length(rendered_content) FROM message WHERE id <= ? ORDER BY id DESC LIMIT ? + 0',
    );
  }

  /** Removes all terms. */
  protected abstract clear(): void;

  /** Replaces the terms of messages. */
  protected abstract put(ids: readonly MessageId[]): MaybePromise<void>;

  async unindexedUpTo(realmId: RealmId | null): Promise<number> {
    const [ofAll = 0, ofRealm = 0] = await Promise.all([
      this.pendingUpTo.get(),
      realmId === null ? this.pendingRealm.get() : this.pendingInRealm.get(realmId),
    ]);
    return Math.max(ofAll, typeof ofRealm === 'number' ? ofRealm : ofRealm[1]);
  }

  async reset(): Promise<void> {
    const newest = (await this.newestId.get()) ?? 0;
    this.clear();
    this.setPending.defer(newest);
  }

  async indexAgain(realmId: RealmId): Promise<void> {
    const newest = await this.newestId.get();
    if (newest != null) this.setPendingRealm.defer(realmId, newest);
  }

  async indexSome(limit: number): Promise<boolean> {
    const last = (await this.pendingUpTo.get()) ?? 0;
    if (last > 0) {
      const messages = await this.before.all(last, limit);
      const some = upToLength(messages);
      await this.put(some.map(([id]) => id));
      const isLast = some.length === messages.length && messages.length < limit;
      this.setPending.defer(isLast ? 0 : lastOf(some)[0] - 1);
    } else {
      const [realmId, lastInRealm] = (await this.pendingRealm.get()) ?? [];
      if (realmId !== undefined) await this.indexSomeOf(realmId, lastInRealm!, limit);
    }
    return (await this.unindexedUpTo(null)) > 0;
  }

  private async indexSomeOf(realmId: RealmId, last: MessageId, limit: number): Promise<void> {
    const messages = await this.before.all(last, MAX_EXAMINED);
    const own = messages.filter(([, realm]) => realm === realmId);
    const some = upToLength(own.slice(0, limit));
    await this.put(some.map(([id]) => id));
    const isCut = some.length < own.length;
    const lowest = isCut ? lastOf(some)[0] : messages.length < MAX_EXAMINED ? 0 : lastOf(messages)[0];
    if (lowest > 1) this.setPendingRealm.defer(realmId, lowest - 1);
    else this.endPendingRealm.defer(realmId);
  }
}
