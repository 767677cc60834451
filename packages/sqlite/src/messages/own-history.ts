import type { MessageId, RecipientId, Viewer } from '@parley/domain';
import { type Connection, LIMIT, type Parameter, type Query } from '../connection.js';
import { indexFor, type Narrowing, restriction } from './message-filter.js';
import { idOf, type MessagePlace, PlaceQuery } from './message-place.js';
import type { Standings } from './standing.js';
import { TRAITS } from './stored-values.js';

/** Which way a page goes from its anchor, and within which ids it lies, both included. */
export interface Walk {
  readonly direction: 'older' | 'newer';
  readonly first: number;
  readonly last: number;
}

/** Ids of messages that a user received where they were sent. */
interface ReceivedRange {
  readonly first: number;
  readonly last: number;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;

/**
 * How many ids a page may look through before it is put together conversation by conversation: what the reader follows is
 * then a small part of what is written.
 */
const SCANNED_IDS = { atLeast: 500, perMessage: 10 };
/** How much of a conversation is fetched when it is that one's turn. */
const CONVERSATION_BATCH = 16;
const MOVED_BATCH = 200;

const isUnmoved = `AND m.traits & ${TRAITS.wasMoved} = 0`;
const isMoved = `AND m.traits & ${TRAITS.wasMoved}`;

/**
 * Pages of what a viewer has received or made his own. Everything that is his own is now in a conversation that he has, or
 * once had, a span of — what is moved elsewhere is lost — or has a row of message_flag saying so.
 */
export class OwnHistory {
  private readonly queries = new Map<string, PlaceQuery>();
  private readonly heads = new Map<string, Query<readonly [RecipientId, MessageId]>>();
  private readonly received: Query<readonly [RecipientId, number | null, number | null]>;
  private readonly withMovedIn: Query<RecipientId>;
  private readonly newestId: Query<number | null>;

  constructor(
    private readonly connection: Connection,
    private readonly standings: Standings,
  ) {
    // Where a span begins or ends, in ids. Nothing sent since it began: no range; nothing since it ended: no upper bound.
    const idAt = (ordinal: string) =>
      `(SELECT m.id FROM message m INDEXED BY message_by_ordinal
        WHERE m.sent_recipient_id = s.recipient_id AND m.ordinal >= s.${ordinal} ORDER BY m.ordinal LIMIT 1)`;
    this.received = connection.tuples(
      `SELECT s.recipient_id,
              CASE WHEN s.from_ordinal = 1 THEN 0 ELSE ${idAt('from_ordinal')} END,
              CASE WHEN s.to_ordinal IS NULL THEN NULL ELSE ${idAt('to_ordinal')} - 1 END
       FROM span s WHERE s.user_id = ? AND s.recipient_id BETWEEN ? AND ? AND s.realm_id = ?
       ORDER BY s.recipient_id, s.number`,
    );
    this.newestId = connection.values<number | null>('SELECT max(id) FROM message');
    this.withMovedIn = connection.values<RecipientId>(
      `SELECT DISTINCT s.recipient_id FROM span s
       WHERE s.user_id = ? AND s.realm_id = ? AND EXISTS (
         SELECT 1 FROM message m INDEXED BY message_moved_in WHERE m.recipient_id = s.recipient_id ${isMoved})`,
    );
  }

  /** At most `limit`, in the direction of the walk. */
  page(viewer: Viewer, narrowing: Narrowing, walk: Walk, limit: number): MessagePlace[] {
    const marked = this.marked(viewer, narrowing, walk, limit);
    if (narrowing.messageId !== null) return merge([this.single(viewer, narrowing, walk), marked], walk, limit);
    if (narrowing.recipientId !== null) {
      const ranges = this.rangesOf(viewer, narrowing.recipientId).get(narrowing.recipientId) ?? [];
      const received = this.conversation(viewer, narrowing, ranges, true, walk, limit);
      return merge([received, marked], walk, limit);
    }
    if (narrowing.topicKey !== null || narrowing.senderId !== null) {
      return merge([this.conversations(viewer, narrowing, walk, limit), marked], walk, limit);
    }
    const { found, rest } = this.scan(viewer, narrowing, walk, limit);
    const further = rest ? this.conversations(viewer, narrowing, rest, limit - found.length) : [];
    return merge([found, further, marked], walk, limit);
  }

  /** A message that the narrowing names. */
  private single(viewer: Viewer, narrowing: Narrowing, walk: Walk): MessagePlace[] {
    const found = this.select('WHERE m.realm_id = ?', [viewer.realmId], narrowing, '', walk, 1);
    return this.standings.own(viewer, found);
  }

  /** Looks through everything that was written, for as long as much of it is in conversations of the viewer. */
  private scan(
    viewer: Viewer,
    narrowing: Narrowing,
    walk: Walk,
    limit: number,
  ): { readonly found: MessagePlace[]; readonly rest: Walk | null } {
    const newest = this.newestId.get() ?? 0;
    const width = SCANNED_IDS.atLeast + SCANNED_IDS.perMessage * limit;
    const last = Math.min(walk.last, newest);
    const window: Walk =
      walk.direction === 'older'
        ? { ...walk, first: Math.max(walk.first, last - width), last }
        : { ...walk, last: Math.min(last, walk.first + width) };
    const found: MessagePlace[] = [];
    for (let part: Walk | null = window; part && found.length < limit; ) {
      const rows = this.select(
        'NOT INDEXED WHERE m.recipient_id IN (SELECT recipient_id FROM span WHERE user_id = ? AND realm_id = ?)',
        [viewer.userId, viewer.realmId],
        narrowing,
        '',
        part,
        limit,
      );
      found.push(...this.standings.own(viewer, rows));
      part = rows.length === limit ? after(part, idOf(rows.at(-1)!)) : null;
    }
    const isAll = walk.direction === 'older' ? window.first <= walk.first : window.last >= last;
    if (found.length >= limit || isAll) return { found, rest: null };
    return { found, rest: after(walk, walk.direction === 'older' ? window.first : window.last) };
  }

  /** From all the viewer's conversations, always going on with the one whose next message comes first. */
  private conversations(viewer: Viewer, narrowing: Narrowing, walk: Walk, limit: number): MessagePlace[] {
    const sign = walk.direction === 'older' ? -1 : 1;
    const hidden = new Set(narrowing.not.recipientIds);
    const queue = this.nextIn(viewer, narrowing, walk)
      .filter(([recipientId]) => !hidden.has(recipientId))
      .map(([recipientId, id]) => ({ recipientId, id: id as number }))
      .sort((a, b) => sign * (a.id - b.id));
    if (queue.length === 0) return [];
    const ranges = this.rangesOf(viewer, null);
    const movedInto = new Set(this.withMovedIn.all(viewer.userId, viewer.realmId));

    let found: MessagePlace[] = [];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { recipientId, id } = next;
      if (found.length >= limit && sign * (id - idOf(found[limit - 1]!)) > 0) break;
      const rows = this.conversation(
        viewer,
        { ...narrowing, recipientId },
        ranges.get(recipientId) ?? [],
        movedInto.has(recipientId),
        walk.direction === 'older' ? { ...walk, last: id } : { ...walk, first: id },
        Math.min(limit, CONVERSATION_BATCH),
      );
      found = merge([found, rows], walk, limit);
      if (rows.length === Math.min(limit, CONVERSATION_BATCH)) {
        const id = idOf(rows.at(-1)!) + sign;
        const place = queue.findIndex((other) => sign * (other.id - id) > 0);
        queue.splice(place < 0 ? queue.length : place, 0, { recipientId, id });
      }
    }
    return found;
  }

  /** What spans and moves make the viewer's own of one conversation. */
  private conversation(
    viewer: Viewer,
    narrowing: Narrowing,
    ranges: readonly ReceivedRange[],
    hasMovedIn: boolean,
    walk: Walk,
    limit: number,
  ): MessagePlace[] {
    const from = `INDEXED BY ${indexFor(narrowing)} WHERE true`;
    const received: MessagePlace[] = [];
    for (const range of walk.direction === 'older' ? ranges.toReversed() : ranges) {
      const part = { ...walk, first: Math.max(walk.first, range.first), last: Math.min(walk.last, range.last) };
      if (received.length >= limit || part.first > part.last) continue;
      received.push(...this.select(from, [], narrowing, isUnmoved, part, limit - received.length));
    }
    if (!hasMovedIn) return received;

    const moved: MessagePlace[] = [];
    // Nothing beyond the page is of use.
    let part: Walk | null = received.length < limit ? walk : upTo(walk, idOf(received.at(-1)!));
    while (part && moved.length < limit) {
      const rows = this.select('INDEXED BY message_moved_in WHERE true', [], narrowing, isMoved, part, MOVED_BATCH);
      moved.push(...this.standings.own(viewer, rows));
      part = rows.length === MOVED_BATCH ? after(part, idOf(rows.at(-1)!)) : null;
    }
    return merge([received, moved], walk, limit);
  }

  /** What is the viewer's own because a row of message_flag says so. */
  private marked({ realmId, userId }: Viewer, narrowing: Narrowing, walk: Walk, limit: number): MessagePlace[] {
    const { sql, parameters } = restriction(narrowing);
    const query = this.query(
      `FROM message_flag f INDEXED BY message_flag_own CROSS JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.origin <> 0 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${sql}
       ORDER BY f.message_id ${orderOf(walk)} ${LIMIT}`,
    );
    return query.all(userId, realmId, walk.first, walk.last, ...parameters, limit);
  }

  private select(
    from: string,
    fromParameters: readonly Parameter[],
    narrowing: Narrowing,
    also: string,
    walk: Walk,
    limit: number,
  ): MessagePlace[] {
    const { sql, parameters } = restriction(narrowing);
    const query = this.query(
      `FROM message m ${from} ${sql} AND m.id BETWEEN ? AND ? ${also}
       ORDER BY m.id ${orderOf(walk)} ${LIMIT}`,
    );
    return query.all(...fromParameters, ...parameters, walk.first, walk.last, limit);
  }

  private query(from: string): PlaceQuery {
    let query = this.queries.get(from);
    if (!query) {
      query = new PlaceQuery(this.connection, from);
      this.queries.set(from, query);
    }
    return query;
  }

  /** For each conversation of the viewer that goes on, the next message in it, be it his own or not. */
  private nextIn({ realmId, userId }: Viewer, narrowing: Narrowing, walk: Walk): (readonly [RecipientId, MessageId])[] {
    const key = {
      ...narrowing,
      recipientId: null,
      not: { recipientIds: [], topicKeys: [], senderIds: [], messageIds: [] },
    };
    const { sql, parameters } = restriction(key);
    const text = `
      SELECT recipient_id, next FROM (
        SELECT own.recipient_id, (
          SELECT m.id FROM message m INDEXED BY ${indexFor(narrowing)}
          WHERE m.recipient_id = own.recipient_id ${sql} AND m.id BETWEEN ? AND ?
          ORDER BY m.id ${orderOf(walk)} LIMIT 1
        ) AS next
        FROM (SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND realm_id = ?) own
      ) WHERE next IS NOT NULL`;
    let query = this.heads.get(text);
    if (!query) {
      query = this.connection.tuples<readonly [RecipientId, MessageId]>(text);
      this.heads.set(text, query);
    }
    return query.all(...parameters, walk.first, walk.last, userId, realmId);
  }

  /** Ascending and disjoint for each recipient. */
  private rangesOf(
    { realmId, userId }: Viewer,
    recipientId: RecipientId | null,
  ): ReadonlyMap<RecipientId, ReceivedRange[]> {
    const ranges = new Map<RecipientId, ReceivedRange[]>();
    for (const [id, first, last] of this.received.all(userId, recipientId ?? 0, recipientId ?? MAX_ID, realmId)) {
      if (first === null) continue;
      const range = { first, last: last ?? MAX_ID };
      const known = ranges.get(id);
      if (known) known.push(range);
      else ranges.set(id, [range]);
    }
    return ranges;
  }
}

const orderOf = ({ direction }: Walk): string => (direction === 'older' ? 'DESC' : 'ASC');

/** The rest of a walk that has come as far as this id; null when it ends there. */
function after(walk: Walk, id: number): Walk | null {
  const rest = walk.direction === 'older' ? { ...walk, last: id - 1 } : { ...walk, first: id + 1 };
  return rest.first > rest.last ? null : rest;
}

const upTo = (walk: Walk, id: number): Walk =>
  walk.direction === 'older' ? { ...walk, first: id } : { ...walk, last: id };

/** Of lists in the direction of the walk, the first `limit` together, each message once. */
function merge(lists: readonly (readonly MessagePlace[])[], walk: Walk, limit: number): MessagePlace[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length <= 1) return filled[0] ? filled[0].slice(0, limit) : [];
  const sign = walk.direction === 'older' ? -1 : 1;
  const all = new Map(filled.flat().map((place) => [idOf(place), place]));
  return [...all.values()].sort((a, b) => sign * (idOf(a) - idOf(b))).slice(0, limit);
}
