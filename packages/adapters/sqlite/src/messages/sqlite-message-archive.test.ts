import { messageTablesOf } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { FEATURES, MIGRATIONS } from '../features.js';

/**
 * Tables with rows that only name a message. Deliveries and retries become useless without it, drafts that quote it are
 * changed, and external ids stay used.
 */
const NAME_ONLY = [
  'awaited_thumbnail',
  'bot_trigger',
  'draft_quote',
  'event',
  'external_send',
  'former_message_file',
  'hold',
  'missed_email',
  'pushed_message',
  'reminder',
  'removed_message_holder',
  'reply_address',
  'sent_once',
];

it('message archive contains the rows of every table that belongs to messages', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const tables = database
    .prepare<[], string>(
      `SELECT DISTINCT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'message_id' ORDER BY t.name`,
    )
    .pluck()
    .all();
  expect(tables).toEqual([...messageTablesOf(FEATURES), ...NAME_ONLY].sort());
});
