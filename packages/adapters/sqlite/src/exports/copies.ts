import type { SearchWords } from '@parley/domain/markdown';
import { type CopyWrites, messageTerms, SqlCopyRepository, searchLanguagesOf, topicKeyOf } from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { MessageInsert } from '../messages/messages.js';
import { newSpans, ReadSets } from '../messages/read-sets.js';

function copyWrites(connection: Connection, words: SearchWords): CopyWrites {
  const inserts = new MessageInsert(connection);
  const spans = newSpans(connection);
  const readSets = new ReadSets(connection);
  const insertTerms = connection.command('INSERT INTO message_search (rowid, terms) VALUES (?, ?)');
  const beginSequence = connection.command(
    `INSERT INTO sqlite_sequence (name, seq)
     SELECT t.value, 0 FROM json_each(json_array(?)) t
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence s WHERE s.name = t.value)`,
  );
  const raiseSequence = connection.command('UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?');
  return {
    takeOrdinals: (realmId, recipientId, count) => inserts.takeOrdinals(realmId, recipientId, count),
    add(message, ordinal, settings) {
      const topicKey = topicKeyOf(message);
      inserts.add(message, message.id, ordinal, topicKey);
      insertTerms.run(message.id, messageTerms(words.inLanguages(searchLanguagesOf(settings)), message, topicKey));
    },
    noteNewest: (recipientId, id) => inserts.noteNewest(recipientId, id),
    isOpen: (recipientId, userId) => spans.isOpen(recipientId, userId),
    markRange: (viewer, recipientId, range) => readSets.markRange(viewer, recipientId, range),
    raiseSequence(table, last) {
      beginSequence.run(table);
      raiseSequence.run(last, table, last);
    },
  };
}

const LAST_OF = 'SELECT seq FROM sqlite_sequence WHERE name = ?';

export const COPY_FEATURE = {
  repositories:
    ({ words }) =>
    (connection) => ({
      copies: new SqlCopyRepository(asStatements(connection), copyWrites(connection, words), LAST_OF),
    }),
} satisfies SqliteFeature;
