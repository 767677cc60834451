import { firstOf, lastOf, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import {
  affectedRanges,
  markOrdinals,
  markRangeRead,
  type OrdinalRange,
  type ReadSegment,
  type ReadSetChange,
  type Viewer,
} from '@parley/domain/messages';
import type { MaybePromise, Statements } from '../engine/statements.js';
import type { RecipientOrdinalRange } from './viewer-message-state.js';

/** Read sets stored as one row per segment; see read-set.ts in the domain. Reading differs between the databases. */
export abstract class SqlReadSets {
  private readonly put;
  private readonly remove;

  constructor(private readonly statements: Statements) {
    this.put = statements.command(
      `INSERT INTO read_segment (user_id, recipient_id, first, last, bits, realm_id) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id, recipient_id, first) DO UPDATE SET last = excluded.last, bits = excluded.bits`,
    );
    this.remove = statements.command(
      `DELETE FROM read_segment WHERE user_id = ? AND recipient_id = ? AND first ${statements.dialect.inSet}`,
    );
  }

  /** Returns segments that overlap the ranges, which ascend per recipient, ascending per recipient. */
  abstract load(
    viewer: Viewer,
    ranges: readonly RecipientOrdinalRange[],
  ): MaybePromise<ReadonlyMap<RecipientId, readonly ReadSegment[]>>;

  /** Marks ordinals of several recipients. */
  async markAll(viewer: Viewer, ordinals: ReadonlyMap<RecipientId, readonly Ordinal[]>, read: boolean): Promise<void> {
    const ranges = [...ordinals].flatMap(([recipientId, each]) =>
      affectedRanges(each).map((range) => ({ recipientId, ...range })),
    );
    const stored = await this.load(viewer, ranges);
    for (const [recipientId, each] of ordinals)
      this.apply(viewer, recipientId, markOrdinals(stored.get(recipientId) ?? [], each, read));
  }

  async markRange(viewer: Viewer, recipientId: RecipientId, range: OrdinalRange): Promise<void> {
    await this.markRanges(viewer, [{ recipientId, ...range }]);
  }

  /** Marks at most one range per recipient. */
  async markRanges(viewer: Viewer, ranges: readonly RecipientOrdinalRange[]): Promise<void> {
    const stored = await this.load(viewer, ranges.map(around));
    for (const range of ranges)
      this.apply(viewer, range.recipientId, markRangeRead(stored.get(range.recipientId) ?? [], range));
  }

  /** Stores a segment before the next statement. */
  write({ realmId, userId }: Viewer, recipientId: RecipientId, { first, last, bits }: ReadSegment): void {
    this.put.defer(userId, recipientId, first, last, bits, realmId);
  }

  /** Returns the resulting segments. */
  protected apply(viewer: Viewer, recipientId: RecipientId, { removed, added, result }: ReadSetChange) {
    const replaced = new Set(added.map(({ first }) => first));
    const dropped = removed.filter((first) => !replaced.has(first));
    if (dropped.length > 0) this.remove.defer(viewer.userId, recipientId, this.statements.dialect.set(dropped));
    for (const segment of added) this.write(viewer, recipientId, segment);
    return result;
  }
}

/** Returns the range of the segments needed to mark ordinals of a range. */
export function around<Range extends OrdinalRange>(range: Range): Range {
  const ends = affectedRanges([range.first, range.last]);
  return { ...range, first: firstOf(ends).first, last: lastOf(ends).last };
}
