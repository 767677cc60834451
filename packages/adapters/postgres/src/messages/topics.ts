import type { MessageId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import {
  idOf,
  type LastInTopic,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type NewestInTopic,
  SqlTopicReads,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { receivedBy } from './message-series.js';
import { MessageIndexRowsById, ViewerMessageStates } from './viewer-message-state.js';

export class PostgresTopicReads extends SqlTopicReads {
  private readonly states: ViewerMessageStates;
  private readonly indexRowsById: MessageIndexRowsById;

  private readonly topics;
  private readonly counts;
  private readonly candidates;
  private readonly flagged;

  constructor(connection: Connection) {
    super(connection);
    this.states = new ViewerMessageStates(connection);
    this.indexRowsById = new MessageIndexRowsById(connection);

    // Skips from topic to topic and reads only the last message of each.
    this.topics = connection.tuples<LastInTopic>(
      `WITH RECURSIVE topic (key) AS (
         SELECT min(topic_key) FROM message WHERE recipient_id = $1 AND topic_key IS NOT NULL
         UNION ALL
         SELECT (SELECT min(n.topic_key) FROM message n WHERE n.recipient_id = $1 AND n.topic_key > topic.key)
         FROM topic WHERE topic.key IS NOT NULL
       )
       SELECT m.topic_key, m.id, m.topic FROM topic CROSS JOIN LATERAL (
         SELECT n.topic_key, n.id, n.topic, n.realm_id FROM message n
         WHERE n.recipient_id = $1 AND n.topic_key = topic.key ORDER BY n.id DESC LIMIT 1) m
       WHERE m.realm_id = $2
       ORDER BY m.id DESC`,
    );
    this.counts = connection.tuples<readonly [RecipientId, number]>(
      `SELECT r.id, r.last_ordinal - f.ordinal + 1 FROM recipient r CROSS JOIN LATERAL (
         SELECT m.ordinal FROM message m
         WHERE m.recipient_id = r.id AND m.sent_recipient_id = r.id AND m.id >= $1 ORDER BY m.id LIMIT 1) f
       WHERE r.id = ANY($2::bigint[]) AND r.realm_id = $3`,
    );
    // Newest message of each topic up to an id that the viewer may own.
    const own = receivedBy({ realmId: 0 as RealmId, userId: 0 as UserId });
    this.candidates = connection.tuples<readonly [...MessageIndexColumns, key: string]>(
      `SELECT c.*, t.key FROM unnest(?::text[], ?::bigint[]) t (key, last) CROSS JOIN LATERAL (
           SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m
           WHERE m.recipient_id = ? AND m.topic_key = t.key AND m.id <= t.last ${own.sql}
           ORDER BY m.id DESC LIMIT 1) c`,
    );
    this.flagged = connection.tuples<readonly [key: string, id: MessageId]>(
      `SELECT m.topic_key, max(m.id) FROM message_flag f JOIN message m ON m.id = f.message_id
       WHERE f.user_id = $1 AND f.source <> 0 AND m.recipient_id = $2 AND m.topic_key = ANY($3::text[])
       GROUP BY m.topic_key`,
    );
  }

  protected lastInTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly LastInTopic[]> {
    return this.topics.all(recipientId, realmId);
  }

  protected countFrom(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    first: number,
  ): Promise<readonly (readonly [RecipientId, number])[]> {
    return this.counts.all(first, recipientIds, realmId);
  }

  /** Goes back in rounds, by one message per round that the viewer lost by a move. */
  protected async newestOwn(
    viewer: Viewer,
    recipientId: RecipientId,
    newest: readonly NewestInTopic[],
  ): Promise<ReadonlyMap<string, MessageId>> {
    const indexRows = await this.indexRowsById.list(
      viewer.realmId,
      newest.map(([, id]) => id),
    );
    const state = await this.states.load(viewer, indexRows);
    const own = new Set(indexRows.filter((row) => state.isOwn(row)).map(idOf));
    const found = new Map(newest.filter(([, id]) => own.has(id)));
    let missing: readonly (readonly [string, number])[] = newest
      .filter(([, id]) => !own.has(id))
      .map(([key, id]) => [key, id - 1]);
    if (missing.length === 0) return found;
    const keys = missing.map(([key]) => key);
    const flagged = this.flagged.all(viewer.userId, recipientId, keys);
    while (missing.length > 0) {
      const rows = await this.candidates.all(
        missing.map(([key]) => key),
        missing.map(([, last]) => last),
        recipientId,
        viewer.userId,
      );
      const kept = new Set((await this.states.ownMoved(viewer, rows)).map(idOf));
      for (const row of rows) if (kept.has(idOf(row))) found.set(row[7], idOf(row));
      missing = rows.filter((row) => !kept.has(idOf(row))).map((row) => [row[7], idOf(row) - 1]);
    }
    for (const [key, id] of await flagged) if (id > (found.get(key) ?? 0)) found.set(key, id);
    return found;
  }
}

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly topics: PostgresTopicReads;
  }
}

export const TOPIC_FEATURE = {
  shared: () => (connection) => ({ topics: new PostgresTopicReads(connection) }),
  repositories:
    () =>
    (_, { topics }) => ({ topics }),
} satisfies PostgresFeature;
