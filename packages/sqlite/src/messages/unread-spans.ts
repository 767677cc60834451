import type { ChannelId, Ordinal, RecipientId } from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import type { Connection, Query } from '../engine/connection.js';
import type { RecipientOrdinalRange } from './read-sets.js';

export interface UnreadSpan extends RecipientOrdinalRange {
  /** Null: a direct conversation. */
  readonly channelId: ChannelId | null;
  /** Where all that is not read of it is one range up to the end: its beginning. */
  readonly onlyGap: Ordinal | null;
  /** Where all that is not read of it is one short range: several such are looked at together. */
  readonly shortGap: RecipientOrdinalRange | null;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;
const SHORT_GAP = 32;

/** Where somebody may have something to read. */
export class UnreadSpans {
  private readonly incomplete: Query<
    readonly [RecipientId, ChannelId | null, first: Ordinal, last: Ordinal, onlyGap: Ordinal | null]
  >;

  constructor(connection: Connection) {
    // Of each span that has a gap; where the gap is all that comes after a single run, or the whole span, its beginning.
    this.incomplete = connection.tuples(
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
           WHERE s.user_id = ? AND s.recipient_id BETWEEN ? AND ? AND s.realm_id = ?
         ) p
         WHERE p.first <= p.last AND p.last > coalesce((
           SELECT CASE WHEN g.bits IS NULL THEN g.last END FROM read_segment g
           WHERE g.user_id = p.user_id AND g.recipient_id = p.recipient_id AND g.first <= p.first
           ORDER BY g.first DESC LIMIT 1), 0)
       )`,
    );
  }

  /** The viewer's spans, of one recipient or of all, that their read set does not cover with a single run. */
  of({ realmId, userId }: Viewer, recipientId: RecipientId | null = null): UnreadSpan[] {
    return this.incomplete
      .all(userId, recipientId ?? 0, recipientId ?? MAX_ID, realmId)
      .map(([id, channelId, first, last, gap]) => ({
        recipientId: id,
        channelId,
        first,
        last,
        onlyGap: gap,
        shortGap: gap !== null && last - gap < SHORT_GAP ? { recipientId: id, first: gap, last } : null,
      }));
  }
}
