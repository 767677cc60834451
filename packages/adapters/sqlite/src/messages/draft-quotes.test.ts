import Sqlite from 'better-sqlite3';
import { migrate } from '../engine/migrate.js';
import { MIGRATIONS } from '../features.js';

it('an upgrade finds the messages to which existing drafts link', () => {
  const database = new Sqlite(':memory:');
  database.pragma('foreign_keys = OFF');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'draft.062');
  migrate(database, MIGRATIONS.slice(0, step));
  const insert = database.prepare(
    "INSERT INTO draft (id, realm_id, user_id, topic, content, edited_at) VALUES (?, 3, 4, '', ?, 1)",
  );
  insert.run(1, '2026 [a](#narrow/channel/1-a/near/12): [b](#narrow/dm/3/near/13), /near/12/near/14)');
  insert.run(2, '/near/ /near/x /near/-1 /near/123456789012345678901234567890');
  insert.run(3, '2026');
  migrate(database, MIGRATIONS);
  expect(database.prepare('SELECT * FROM draft_quote').raw().all()).toEqual([
    [1, 12, 3],
    [1, 13, 3],
    [1, 14, 3],
    [2, 123_456_789_012_345, 3],
  ]);
});
