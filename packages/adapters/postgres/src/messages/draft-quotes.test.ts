import pg from 'pg';
import { MIGRATIONS } from '../features.js';
import { createDatabase } from '../testing/databases.js';

it('an upgrade finds the messages to which existing drafts link', async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // Accepts drafts without an organization.
  await client.query('SET session_replication_role = replica; DROP TABLE draft_quote');
  const insert = (id: number, content: string) =>
    client.query("INSERT INTO draft (id, realm_id, user_id, topic, content, edited_at) VALUES ($1, 3, 4, '', $2, 1)", [
      id,
      content,
    ]);
  await insert(1, '2026 [a](#narrow/channel/1-a/near/12): [b](#narrow/dm/3/near/13), /near/12/near/14)');
  await insert(2, '/near/ /near/x /near/-1 /near/123456789012345678901234567890');
  await insert(3, '2026');
  await client.query(MIGRATIONS.find(({ name }) => name === 'draft.062')!.sql);
  const { rows } = await client.query('SELECT draft_id, message_id FROM draft_quote ORDER BY draft_id, message_id');
  expect(rows.map(({ draft_id, message_id }) => [Number(draft_id), Number(message_id)])).toEqual([
    [1, 12],
    [1, 13],
    [1, 14],
    [2, 123_456_789_012_345],
  ]);
  await client.end();
  await database.drop();
});
