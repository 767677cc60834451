import { type ChannelId, lastOf, type Ordinal, type RecipientId, type UserId } from '@parley/domain/kernel';
import { extendLatest, markOrdinals, type OrdinalRange, type ReadSegment, type Viewer } from '@parley/domain/messages';
import { around, jsonList, type RecipientOrdinalRange, Spans, SqlReadSets, type UnreadSpan } from '@parley/storage';
import { asStatements, type Connection, LIMIT, type Query } from '../engine/connection.js';
import { lastSeqOf } from '../kernel/events.js';

export const newSpans = (connection: Connection): Spans => new Spans(asStatements(connection), lastSeqOf);

type IncompleteRow = readonly [RecipientId, ChannelId | null, first: Ordinal, last: Ordinal, onlyGap: Ordinal | null];

const SHORT_GAP = 32;

/** Spans that may contain unread messages. */
export class UnreadSpans {
  private readonly incomplete: Query<IncompleteRow>;
  private readonly incompleteOf: Query<IncompleteRow>;

  constructor(connection: Connection) {
    // Selects spans with a gap. Includes the gap's start if it covers the whole span or everything after a single
    // segment.
    const incompleteIn = (recipient: string) =>
      `SELECT recipient_id, channel_id, first, last,
              CASE WHEN latest IS NULL THEN first
                   WHEN latest ->> 0 <= first AND NOT latest ->> 2 THEN max(first, (latest ->> 1) + 1) END
       FROM (
         SELECT p.*, (
           SELECT json_array(g.first, g.last, g.bits IS NOT NULL) FROM read_segment g
           WHERE g.user_id = p.user_id AND g.recipient_id = p.recipient_id AND g.first <= p.last
           ORDER BY g.first DESC LIMIT 1) AS latest
         FROM (
           SELECT s.user_id, s.recipient_id, r.channel_id, s.from_ordinal AS first, coalesce(s.to_ordinal - 1, r.last_ordinal) AS last
           FROM span s CROSS JOIN recipient r ON r.id = s.recipient_id
           WHERE s.user_id = ? AND s.realm_id = ? ${recipient}
         ) p
         WHERE p.first <= p.last AND p.last > coalesce((
           SELECT CASE WHEN g.bits IS NULL THEN g.last END FROM read_segment g
           WHERE g.user_id = p.user_id AND g.recipient_id = p.recipient_id AND g.first <= p.first
           ORDER BY g.first DESC LIMIT 1), 0)
       )`;
    this.incomplete = connection.tuples(incompleteIn(''));
    this.incompleteOf = connection.tuples(incompleteIn('AND s.recipient_id = ?'));
  }

  /** Returns the viewer's spans, of one recipient or all, that are not covered by a single segment of the read set. */
  of({ realmId, userId }: Viewer, recipientId: RecipientId | null = null): UnreadSpan[] {
    const rows =
      recipientId === null ? this.incomplete.all(userId, realmId) : this.incompleteOf.all(userId, realmId, recipientId);
    return rows.map(([id, channelId, first, last, gap]) => ({
      recipientId: id,
      channelId,
      first,
      last,
      onlyGap: gap,
      shortGap: gap !== null && last - gap < SHORT_GAP ? { recipientId: id, first: gap, last } : null,
    }));
  }
}

type SegmentRow = readonly [recipientId: RecipientId, first: Ordinal, last: Ordinal, bits: Uint8Array | null];

/** Segments fetched per batch of a walk; few at first, because most walks end soon. */
const FIRST_BATCH = 4;
const FURTHER_BATCH = 64;
const NO_LIMIT = -1;

/** Reads single segments, and walks from one to the next, by statements that are cheap here. */
export class ReadSets extends SqlReadSets {
  private readonly overlapping: Query<SegmentRow>;
  private readonly overlappingOfUsers: Query<readonly [UserId, ...SegmentRow]>;
  private readonly overlappingOne: Query<SegmentRow>;
  private readonly ascendingFrom: Query<SegmentRow>;
  private readonly descendingFrom: Query<SegmentRow>;
  private readonly latest: Query<SegmentRow>;

  constructor(connection: Connection) {
    super(asStatements(connection));
    // Starts with the ranges and finds for each the segment at or before its start; earlier segments cannot overlap it.
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
  }

  /** Returns at most `limit` segments if given. */
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
      const existing = segments.get(recipientId);
      if (!existing) segments.set(recipientId, [{ first, last, bits }]);
      // A long segment overlaps several ranges.
      else if (lastOf(existing).first < first) existing.push({ first, last, bits });
    }
    return segments;
  }

  /** Returns segments that contain one of these ordinals, by user, then by recipient, ascending. */
  loadAll(
    userIds: readonly UserId[],
    ordinals: readonly { readonly recipientId: RecipientId; readonly ordinal: Ordinal }[],
  ): ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly ReadSegment[]>> {
    const users = new Map<UserId, Map<RecipientId, Map<Ordinal, ReadSegment>>>();
    const parameter = JSON.stringify(ordinals.map(({ recipientId, ordinal }) => [recipientId, ordinal]));
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

  /** Iterates from the segment at or before `from` upwards. */
  *ascending({ userId }: Viewer, recipientId: RecipientId, from: Ordinal): Generator<ReadSegment> {
    let start = from;
    for (let limit = FIRST_BATCH; ; limit = FURTHER_BATCH) {
      const rows = this.ascendingFrom.all(userId, recipientId, userId, recipientId, start, limit);
      for (const [, first, last, bits] of rows) if (last >= start) yield { first, last, bits };
      if (rows.length < limit) return;
      start = lastOf(rows)[2] + 1;
    }
  }

  /** Iterates from the segment that starts at or before `from` downwards. */
  *descending({ userId }: Viewer, recipientId: RecipientId, from: Ordinal): Generator<ReadSegment> {
    let start = from;
    for (let limit = FIRST_BATCH; ; limit = FURTHER_BATCH) {
      const rows = this.descendingFrom.all(userId, recipientId, start, limit);
      for (const [, first, last, bits] of rows) yield { first, last, bits };
      if (rows.length < limit) return;
      start = lastOf(rows)[1] - 1;
    }
  }

  /** Marks ordinals using the already loaded segments of `around` and returns the resulting segments. */
  markAmong(
    stored: readonly ReadSegment[],
    viewer: Viewer,
    recipientId: RecipientId,
    ordinals: readonly Ordinal[],
    read: boolean,
  ): readonly ReadSegment[] {
    return this.apply(viewer, recipientId, markOrdinals(stored, ordinals, read));
  }

  /** Returns the segments needed to mark ordinals of the range, ascending. */
  around(viewer: Viewer, recipientId: RecipientId, range: OrdinalRange): readonly ReadSegment[] {
    return this.overlap(viewer, recipientId, around(range));
  }

  /** Marks the newest message as read; equivalent to `markAll` but faster. */
  async markNewest(viewer: Viewer, recipientId: RecipientId, newest: Ordinal): Promise<void> {
    const row = this.latest.get(viewer.userId, recipientId);
    const extended = row && extendLatest({ first: row[1], last: row[2], bits: row[3] }, newest);
    if (extended) this.write(viewer, recipientId, extended);
    else await this.markAll(viewer, new Map([[recipientId, [newest]]]), true);
  }

  /** Returns segments that overlap the range, ascending. Faster than `load`, which accepts several ranges. */
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
}
