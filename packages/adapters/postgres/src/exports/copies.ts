import { type CopyWrites, SqlCopyRepository, topicKeyOf } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import type { SearchTerms } from '../messages/conditions.js';
import { MessageInsert } from '../messages/messages.js';
import { newSpans, ReadSets } from '../messages/read-sets.js';

const SEQUENCE = "pg_get_serial_sequence(quote_ident($1), 'id')::regclass";

function copyWrites(connection: Connection, searchTerms: SearchTerms): CopyWrites {
  const inserts = new MessageInsert(connection);
  const spans = newSpans(connection);
  const readSets = new ReadSets(connection);
  const raiseSequence = connection.command(
    `SELECT setval(${SEQUENCE}, $2) WHERE coalesce(pg_sequence_last_value(${SEQUENCE}), 0) < $2`,
  );
  return {
    takeOrdinals: (realmId, recipientId, count) => inserts.takeOrdinals(realmId, recipientId, count),
    add(message, ordinal, settings) {
      const { id, realmId, topic, renderedContent } = message;
      inserts.add(message, id, ordinal, topicKeyOf(message));
      searchTerms.put([[id, realmId, topic, renderedContent, settings]]);
    },
    noteNewest: (recipientId, id) => inserts.noteNewest(recipientId, id),
    isOpen: (recipientId, userId) => spans.isOpen(recipientId, userId),
    markRange: (viewer, recipientId, range) => readSets.markRange(viewer, recipientId, range),
    raiseSequence: (table, last) => raiseSequence.defer(table, last),
  };
}

export const COPY_FEATURE = {
  repositories:
    () =>
    (connection, { searchTerms }) => ({
      copies: new SqlCopyRepository(
        connection,
        copyWrites(connection, searchTerms),
        `SELECT pg_sequence_last_value(${SEQUENCE})`,
      ),
    }),
} satisfies PostgresFeature;
