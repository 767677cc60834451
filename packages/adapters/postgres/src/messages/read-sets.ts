import { type ChannelId, firstOf, lastOf, type Ordinal, type RecipientId, type UserId } from '@parley/domain/kernel';
import {
  affectedRanges,
  markOrdinals,
  markRangeRead,
  type OrdinalRange,
  type ReadSegment,
  type ReadSetChange,
  type Viewer,
} from '@parley/domain/messages';
import { type RecipientOrdinalRange, Spans, type UnreadSpan } from '@parley/storage';
import type { Command, Connection, Query } from '../engine/connection.js';
import { lastSeqOf } from '../kernel/events.js';

export const newSpans = (connection: Connection): Spans => new Spans(connection, lastSeqOf);

type IncompleteRow = readonly [RecipientId, ChannelId | null, first: Ordinal, last: Ordinal, onlyGap: Ordinal | null];

/** Spans that may contain unread messages. */
export class UnreadSpans {
  private readonly incomplete: Query<IncompleteRow>;

  constructor(connection: Connection) {
    // Selects spans with a gap. Includes the gap's start if it covers the whole span or everything after a single
    // segment.
    this.incomplete = connection.tuples(
      `SELECT p.recipient_id, p.channel_id, p.first, p.last,
              CASE WHEN latest.first IS NULL THEN p.first
                   WHEN latest.first <= p.first AND latest.bits IS NULL THEN greatest(p.first, latest.last + 1) END
       FROM (
         SELECT s.recipient_id, r.channel_id, s.from_ordinal AS first, coalesce(s.to_ordinal - 1, r.last_ordinal) AS last
         FROM span s JOIN recipient r ON r.id = s.recipient_id
         WHERE s.user_id = $1 AND s.realm_id = $2 AND s.recipient_id = coalesce($3, s.recipient_id)
       ) p
       LEFT JOIN LATERAL (
         SELECT g.first, g.last, g.bits FROM read_segment g
         WHERE g.user_id = $1 AND g.recipient_id = p.recipient_id AND g.first <= p.last
         ORDER BY g.first DESC LIMIT 1) latest ON true
       LEFT JOIN LATERAL (
         SELECT CASE WHEN g.bits IS NULL THEN g.last END AS last FROM read_segment g
         WHERE g.user_id = $1 AND g.recipient_id = p.recipient_id AND g.first <= p.first
         ORDER BY g.first DESC LIMIT 1) earliest ON true
       WHERE p.first <= p.last AND p.last > coalesce(earliest.last, 0)`,
    );
  }

  /** Returns the viewer's spans, of one recipient or all, that are not covered by a single segment of the read set. */
  async of({ realmId, userId }: Viewer, recipientId: RecipientId | null = null): Promise<UnreadSpan[]> {
    const rows = await this.incomplete.all(userId, realmId, recipientId);
    return rows.map(([id, channelId, first, last, gap]) => ({
      recipientId: id,
      channelId,
      first,
      last,
      onlyGap: gap,
      shortGap: null,
    }));
  }
}

type SegmentRow = readonly [recipientId: RecipientId, first: Ordinal, last: Ordinal, bits: Uint8Array | null];

const toSegment = ([, first, last, bits]: SegmentRow): ReadSegment => ({ first, last, bits });

/** Read sets stored as one row per segment; see read-set.ts in the domain. */
export class ReadSets {
  private readonly overlapping: Query<SegmentRow>;
  private readonly containing: Query<readonly [UserId, ...SegmentRow]>;
  private readonly latestOf: Query<readonly [UserId, ...SegmentRow]>;
  private readonly put: Command;
  private readonly remove: Command;

  constructor(connection: Connection) {
    this.overlapping = connection.tuples<SegmentRow>(
      `SELECT DISTINCT ON (s.recipient_id, s.first) s.recipient_id, s.first, s.last, s.bits
       FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) place (recipient_id, first, last)
       JOIN read_segment s ON s.user_id = $1 AND s.recipient_id = place.recipient_id AND s.first <= place.last
         AND s.last >= place.first AND s.first >= coalesce(
           (SELECT max(b.first) FROM read_segment b
            WHERE b.user_id = $1 AND b.recipient_id = place.recipient_id AND b.first <= place.first), 0)
       ORDER BY s.recipient_id, s.first`,
    );
    this.containing = connection.tuples<readonly [UserId, ...SegmentRow]>(
      `SELECT k.user_id, k.recipient_id, s.first, s.last, s.bits FROM (
         SELECT DISTINCT u.id AS user_id, p.recipient_id, (
           SELECT max(b.first) FROM read_segment b
           WHERE b.user_id = u.id AND b.recipient_id = p.recipient_id AND b.first <= p.ordinal) AS first
         FROM unnest($1::bigint[]) u (id) CROSS JOIN unnest($2::bigint[], $3::bigint[]) p (recipient_id, ordinal)
       ) k JOIN read_segment s ON s.user_id = k.user_id AND s.recipient_id = k.recipient_id AND s.first = k.first
       ORDER BY k.user_id, k.recipient_id, s.first`,
    );
    this.latestOf = connection.tuples<readonly [UserId, ...SegmentRow]>(
      `SELECT u.id, s.recipient_id, s.first, s.last, s.bits FROM unnest($1::bigint[]) u (id)
       CROSS JOIN LATERAL (
         SELECT g.recipient_id, g.first, g.last, g.bits FROM read_segment g
         WHERE g.user_id = u.id AND g.recipient_id = $2 ORDER BY g.first DESC LIMIT 1) s`,
    );
    this.put = connection.command(
      `INSERT INTO read_segment (user_id, recipient_id, first, last, bits, realm_id)
       SELECT $1::bigint, $2::bigint, s.first, s.last, decode(s.bits, 'hex'), $6::bigint
       FROM unnest($3::bigint[], $4::bigint[], $5::text[]) s (first, last, bits)
       ON CONFLICT (user_id, recipient_id, first) DO UPDATE SET last = excluded.last, bits = excluded.bits`,
    );
    this.remove = connection.command(
      'DELETE FROM read_segment WHERE user_id = $1 AND recipient_id = $2 AND first = ANY($3::bigint[])',
    );
  }

  /** Returns segments that overlap the ranges, ascending per recipient. */
  async load(
    { userId }: Viewer,
    ranges: readonly RecipientOrdinalRange[],
  ): Promise<ReadonlyMap<RecipientId, readonly ReadSegment[]>> {
    const segments = new Map<RecipientId, ReadSegment[]>();
    if (ranges.length === 0) return segments;
    const rows = await this.overlapping.all(
      userId,
      ranges.map(({ recipientId }) => recipientId),
      ranges.map(({ first }) => first),
      ranges.map(({ last }) => last),
    );
    for (const row of rows) {
      const existing = segments.get(row[0]);
      if (existing) existing.push(toSegment(row));
      else segments.set(row[0], [toSegment(row)]);
    }
    return segments;
  }

  /** Returns segments that contain one of these ordinals, by user, then by recipient, ascending. */
  async loadAll(
    userIds: readonly UserId[],
    ordinals: readonly { readonly recipientId: RecipientId; readonly ordinal: Ordinal }[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly ReadSegment[]>>> {
    const users = new Map<UserId, Map<RecipientId, ReadSegment[]>>();
    if (ordinals.length === 0) return users;
    const rows = await this.containing.all(
      userIds,
      ordinals.map(({ recipientId }) => recipientId),
      ordinals.map(({ ordinal }) => ordinal),
    );
    for (const [userId, ...row] of rows) {
      const recipients = users.get(userId) ?? new Map<RecipientId, ReadSegment[]>();
      users.set(userId, recipients);
      const existing = recipients.get(row[0]);
      if (existing) existing.push(toSegment(row));
      else recipients.set(row[0], [toSegment(row)]);
    }
    return users;
  }

  /** Returns the last segment of each user who has one. */
  async latest(userIds: readonly UserId[], recipientId: RecipientId): Promise<ReadonlyMap<UserId, ReadSegment>> {
    const rows = await this.latestOf.all(userIds, recipientId);
    return new Map(rows.map(([userId, ...row]) => [userId, toSegment(row)]));
  }

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
    const around = ranges.map(({ recipientId, first, last }) => {
      const ends = affectedRanges([first, last]);
      return { recipientId, first: firstOf(ends).first, last: lastOf(ends).last };
    });
    const stored = await this.load(viewer, around);
    for (const range of ranges)
      this.apply(viewer, range.recipientId, markRangeRead(stored.get(range.recipientId) ?? [], range));
  }

  /** Stores a segment before the next statement. */
  write(viewer: Viewer, recipientId: RecipientId, segment: ReadSegment): void {
    this.writeAll(viewer, recipientId, [segment]);
  }

  private apply(viewer: Viewer, recipientId: RecipientId, { removed, added }: ReadSetChange): void {
    const replaced = new Set(added.map(({ first }) => first));
    const dropped = removed.filter((first) => !replaced.has(first));
    if (dropped.length > 0) this.remove.defer(viewer.userId, recipientId, dropped);
    if (added.length > 0) this.writeAll(viewer, recipientId, added);
  }

  private writeAll({ realmId, userId }: Viewer, recipientId: RecipientId, segments: readonly ReadSegment[]): void {
    this.put.defer(
      userId,
      recipientId,
      segments.map(({ first }) => first),
      segments.map(({ last }) => last),
      segments.map(({ bits }) => bits && Buffer.from(bits.buffer, bits.byteOffset, bits.length).toString('hex')),
      realmId,
    );
  }
}
