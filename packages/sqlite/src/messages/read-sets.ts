import type { Ordinal, RecipientId, UserId } from '@parley/domain/kernel';
import {
  affectedRanges,
  extendLatest,
  markOrdinals,
  markRangeRead,
  type OrdinalRange,
  type ReadSegment,
  type ReadSetChange,
  type Viewer,
} from '@parley/domain/messages';
import { type Command, type Connection, LIMIT, type Query } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';

/** Ordinals of one recipient. */
export interface RecipientOrdinalRange extends OrdinalRange {
  readonly recipientId: RecipientId;
}

type SegmentRow = readonly [recipientId: RecipientId, first: Ordinal, last: Ordinal, bits: Uint8Array | null];

/** How many segments a walk along a read set fetches: few at first, since most walks end soon. */
const FIRST_BATCH = 4;
const FURTHER_BATCH = 64;
const NO_LIMIT = -1;

/** Read sets as rows, one a segment; see read-set.ts in the domain. */
export class ReadSets {
  private readonly overlapping: Query<SegmentRow>;
  private readonly overlappingOfUsers: Query<readonly [UserId, ...SegmentRow]>;
  private readonly overlappingOne: Query<SegmentRow>;
  private readonly ascendingFrom: Query<SegmentRow>;
  private readonly descendingFrom: Query<SegmentRow>;
  private readonly latest: Query<SegmentRow>;
  private readonly put: Command;
  private readonly remove: Command;

  constructor(connection: Connection) {
    // The places come first, and of each the segment at or before its start: earlier ones cannot reach into it.
    this.overlapping = connection.tuples<SegmentRow>(
      `SELECT s.recipient_id, s.first, s.last, s.bits
       FROM json_each(?) place
       CROSS JOIN read_segment s
       WHERE s.user_id = ? AND s.recipient_id = place.value ->> 0 AND s.first <= place.value ->> 2
         AND s.first >= coalesce(
           (SELECT max(b.first) FROM read_segment b
            WHERE b.user_id = ? AND b.recipient_id = place.value ->> 0 AND b.first <= place.value ->> 1), 0)
         AND s.last >= place.value ->> 1
       ${LIMIT}`,
    );
    this.overlappingOfUsers = connection.tuples<readonly [UserId, ...SegmentRow]>(
      `SELECT s.user_id, s.recipient_id, s.first, s.last, s.bits
       FROM json_each(?) u CROSS JOIN json_each(?) place
       CROSS JOIN read_segment s
       WHERE s.user_id = u.value AND s.recipient_id = place.value ->> 0 AND s.first = (
           SELECT max(b.first) FROM read_segment b
           WHERE b.user_id = u.value AND b.recipient_id = place.value ->> 0 AND b.first <= place.value ->> 1)
         AND s.last >= place.value ->> 1`,
    );
    this.overlappingOne = connection.tuples<SegmentRow>(
      `SELECT recipient_id, first, last, bits FROM read_segment
       WHERE user_id = ? AND recipient_id = ? AND first <= ? AND first >= coalesce(
         (SELECT max(first) FROM read_segment WHERE user_id = ? AND recipient_id = ? AND first <= ?), 0)
         AND last >= ?
       ORDER BY first ${LIMIT}`,
    );
    this.ascendingFrom = connection.tuples<SegmentRow>(
      `SELECT recipient_id, first, last, bits FROM read_segment
       WHERE user_id = ? AND recipient_id = ? AND first >= coalesce(
         (SELECT max(first) FROM read_segment WHERE user_id = ? AND recipient_id = ? AND first <= ?), 0)
       ORDER BY first ${LIMIT}`,
    );
    this.descendingFrom = connection.tuples<SegmentRow>(
      `SELECT recipient_id, first, last, bits FROM read_segment
       WHERE user_id = ? AND recipient_id = ? AND first <= ?
       ORDER BY first DESC ${LIMIT}`,
    );
    this.latest = connection.tuples<SegmentRow>(
      `SELECT recipient_id, first, last, bits FROM read_segment
       WHERE user_id = ? AND recipient_id = ? ORDER BY first DESC LIMIT 1`,
    );
    this.put = connection.command(
      `INSERT INTO read_segment (user_id, recipient_id, first, last, bits, realm_id) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET last = excluded.last, bits = excluded.bits`,
    );
    this.remove = connection.command('DELETE FROM read_segment WHERE user_id = ? AND recipient_id = ? AND first = ?');
  }

  /** Those that overlap a place, ascending for each recipient; at most `limit`, if one is given. Places are ascending. */
  load(
    viewer: Viewer,
    ranges: readonly RecipientOrdinalRange[],
    limit = NO_LIMIT,
  ): ReadonlyMap<RecipientId, readonly ReadSegment[]> {
    const [range] = ranges;
    if (range && ranges.length === 1) {
      return new Map([[range.recipientId, this.overlap(viewer, range.recipientId, range, limit)]]);
    }
    const { userId } = viewer;
    const segments = new Map<RecipientId, ReadSegment[]>();
    const parameter = JSON.stringify(ranges.map(({ recipientId, first, last }) => [recipientId, first, last]));
    for (const [recipientId, first, last, bits] of this.overlapping.all(parameter, userId, userId, limit)) {
      const known = segments.get(recipientId);
      if (!known) segments.set(recipientId, [{ first, last, bits }]);
      // A long run overlaps several places.
      else if (known.at(-1)!.first < first) known.push({ first, last, bits });
    }
    return segments;
  }

  /** By user, then by recipient, ascending: those that hold one of these single ordinals. */
  loadAll(
    userIds: readonly UserId[],
    ordinals: readonly RecipientOrdinalRange[],
  ): ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly ReadSegment[]>> {
    const users = new Map<UserId, Map<RecipientId, Map<Ordinal, ReadSegment>>>();
    const parameter = JSON.stringify(ordinals.map(({ recipientId, first }) => [recipientId, first]));
    for (const [userId, recipientId, first, last, bits] of this.overlappingOfUsers.all(jsonList(userIds), parameter)) {
      const recipients = users.get(userId) ?? new Map<RecipientId, Map<Ordinal, ReadSegment>>();
      users.set(userId, recipients);
      const segments = recipients.get(recipientId) ?? new Map<Ordinal, ReadSegment>();
      recipients.set(recipientId, segments);
      segments.set(first, { first, last, bits });
    }
    const ascending = (segments: ReadonlyMap<Ordinal, ReadSegment>) =>
      [...segments.values()].sort((a, b) => a.first - b.first);
    return new Map(
      [...users].map(([userId, recipients]) => [
        userId,
        new Map([...recipients].map(([recipientId, segments]) => [recipientId, ascending(segments)])),
      ]),
    );
  }

  /** From the one at or before `from` on. */
  *ascending({ userId }: Viewer, recipientId: RecipientId, from: Ordinal): Generator<ReadSegment> {
    let start = from;
    for (let limit = FIRST_BATCH; ; limit = FURTHER_BATCH) {
      const rows = this.ascendingFrom.all(userId, recipientId, userId, recipientId, start, limit);
      for (const [, first, last, bits] of rows) if (last >= start) yield { first, last, bits };
      if (rows.length < limit) return;
      start = rows.at(-1)![2] + 1;
    }
  }

  /** From the one that begins at or before `from` backwards. */
  *descending({ userId }: Viewer, recipientId: RecipientId, from: Ordinal): Generator<ReadSegment> {
    let start = from;
    for (let limit = FIRST_BATCH; ; limit = FURTHER_BATCH) {
      const rows = this.descendingFrom.all(userId, recipientId, start, limit);
      for (const [, first, last, bits] of rows) yield { first, last, bits };
      if (rows.length < limit) return;
      start = rows.at(-1)![1] - 1;
    }
  }

  mark(viewer: Viewer, recipientId: RecipientId, ordinals: readonly Ordinal[], read: boolean): void {
    const ranges = affectedRanges(ordinals).map((range) => ({ recipientId, ...range }));
    this.markAmong(this.load(viewer, ranges).get(recipientId) ?? [], viewer, recipientId, ordinals, read);
  }

  /** The same where the segments `around` the ordinals are at hand. What becomes of them. */
  markAmong(
    stored: readonly ReadSegment[],
    viewer: Viewer,
    recipientId: RecipientId,
    ordinals: readonly Ordinal[],
    read: boolean,
  ): readonly ReadSegment[] {
    return this.apply(viewer, recipientId, markOrdinals(stored, ordinals, read));
  }

  markRange(viewer: Viewer, recipientId: RecipientId, range: OrdinalRange): void {
    this.apply(viewer, recipientId, markRangeRead(this.around(viewer, recipientId, range), range));
  }

  /** What it takes to mark ordinals of the range, ascending. */
  around(viewer: Viewer, recipientId: RecipientId, range: OrdinalRange): readonly ReadSegment[] {
    const ends = affectedRanges([range.first, range.last]);
    return this.overlap(viewer, recipientId, { first: ends[0]!.first, last: ends.at(-1)!.last });
  }

  /** Marks the newest message read; the same as `mark`, and quicker. */
  markNewest(viewer: Viewer, recipientId: RecipientId, newest: Ordinal): void {
    const row = this.latest.get(viewer.userId, recipientId);
    const extended = row && extendLatest({ first: row[1], last: row[2], bits: row[3] }, newest);
    if (extended) this.write(viewer, recipientId, extended);
    else this.mark(viewer, recipientId, [newest], true);
  }

  /** Those that overlap the range, ascending. Quicker than `load`, which can do it for many ranges. */
  overlap(
    { userId }: Viewer,
    recipientId: RecipientId,
    { first, last }: OrdinalRange,
    limit = NO_LIMIT,
  ): readonly ReadSegment[] {
    return this.overlappingOne
      .all(userId, recipientId, last, userId, recipientId, first, first, limit)
      .map((row) => ({ first: row[1], last: row[2], bits: row[3] }));
  }

  private apply(
    viewer: Viewer,
    recipientId: RecipientId,
    { removed, added, result }: ReadSetChange,
  ): readonly ReadSegment[] {
    const replaced = new Set(added.map(({ first }) => first));
    for (const first of removed) if (!replaced.has(first)) this.remove.run(viewer.userId, recipientId, first);
    for (const segment of added) this.write(viewer, recipientId, segment);
    return result;
  }

  private write({ realmId, userId }: Viewer, recipientId: RecipientId, { first, last, bits }: ReadSegment): void {
    this.put.run(userId, recipientId, first, last, bits, realmId);
  }
}
