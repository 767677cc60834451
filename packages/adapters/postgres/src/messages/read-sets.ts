import type { ChannelId, Ordinal, RecipientId, UserId } from '@parley/domain/kernel';
import type { ReadSegment, Viewer } from '@parley/domain/messages';
import { type RecipientOrdinalRange, Spans, SqlReadSets, type UnreadSpan } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
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

/** Reads lists of segments to save round trips. */
export class ReadSets extends SqlReadSets {
  private readonly overlapping: Query<SegmentRow>;
  private readonly containing: Query<readonly [UserId, ...SegmentRow]>;
  private readonly latestOf: Query<readonly [UserId, ...SegmentRow]>;

  constructor(connection: Connection) {
    super(connection);
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
}
