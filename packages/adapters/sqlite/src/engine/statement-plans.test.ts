import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage } from '../index.js';
import { defineSearchFunctions } from '../messages/conditions.js';
import { Connection } from './connection.js';

/** Prefixes of statements that concern one or all organizations as a whole. */
const ABOUT_WHOLE_REALMS = [
  'INSERT INTO realm ', // checks its foreign keys, which reference no rows yet
  'SELECT id, version FROM realm ORDER BY id',
  'SELECT json_group_array(id), json_group_array(version), json_group_array(is_active) FROM (SELECT id, version',
  'SELECT subgroup_id, group_id FROM group_subgroup WHERE realm_id = ?',
  'SELECT json_group_array(id), json_group_array(version) FROM (SELECT id, version FROM channel WHERE realm_id = ?',
  'SELECT json_group_array(id), json_group_array(version), json_group_array(subscriber_count) FROM (SELECT',
  'SELECT 1 FROM channel WHERE realm_id = ? LIMIT 1 OFFSET', // a limited number of index entries
  'SELECT c.id FROM (SELECT id FROM channel INDEXED BY channel_recently_active', // the newest rows, up to a limit
  'SELECT id FROM channel WHERE realm_id = ? AND name_key LIKE', // searches the names in an index
  'SELECT id FROM "user" WHERE realm_id = ? AND name_key LIKE', // the same
  'SELECT 1 FROM channel WHERE realm_id = ? AND privacy', // matches few rows
  'SELECT recipient_id FROM channel WHERE realm_id = ? AND privacy', // matches few rows
  'SELECT s.realm_id, max(s.pruned_up_to', // one row per realm
  'SELECT q.realm_id, q.owner_id FROM realm r', // one entry per realm, once after startup
  'SELECT user_id, last_active, last_connected, update_id FROM presence WHERE realm_id = ?', // once, on first use
  'SELECT * FROM user_status WHERE realm_id = ?', // register returns all of them
  'SELECT realm_id, user_id, generation, seed FROM api_key', // once, at startup
  'SELECT min((SELECT m.id FROM message m', // searches a quiet realm among busy ones through the realm's index
  'SELECT email, bounced_at AS "bouncedAt", reason FROM bounced_address INDEXED BY', // the newest rows, up to a limit
  'SELECT min(floor_seq) FROM event_queue', // the first index entry
  'SELECT name FROM event_consumer ORDER BY name', // at most fifty rows
  'SELECT coalesce(sum(size), 0) FROM picture WHERE realm_id = ?', // on export requests, a few a week
  'DELETE FROM session WHERE id IN (SELECT id FROM session WHERE realm_id = ? LIMIT', // deletes all rows in batches
  'SELECT 1 FROM authenticator_app WHERE realm_id = ? LIMIT 1', // the first index entry
  'SELECT 1 FROM passkey WHERE realm_id = ? LIMIT 1', // the first index entry
  'SELECT user_id FROM linked_account WHERE realm_id = ? AND method = ?', // all rows, for directory synchronization
  'SELECT user_id FROM removed_user WHERE realm_id = ?', // all rows, for SCIM pages
  'SELECT group_id AS "groupId", external_id AS "externalId", is_removed AS "isRemoved" FROM provisioned_group', // all rows
  'SELECT realm_id AS "realmId", name, created_at AS "createdAt" FROM provisioning_token', // at most ten rows
  'DELETE FROM realm WHERE id = ?', // checks its foreign keys after all its rows are deleted
  'SELECT DISTINCT holder FROM job WHERE holder IS NOT NULL', // jobs in progress, once after startup
  'SELECT DISTINCT holder FROM worker_lease', // one row per recurring work, once after startup
  'SELECT realm_id, unindexed_up_to FROM realm_search_backlog ORDER BY realm_id LIMIT 1', // the first row
  'SELECT sent_at FROM message ORDER BY id DESC LIMIT 1', // the last row, once after startup
  'UPDATE event_queue SET last_polled_at = ? WHERE last_polled_at > ?', // once after startup and after steps of the clock
  'UPDATE job SET due_at = ? + delay WHERE', // once after startup and after steps of the clock
  'SELECT 1 FROM file_term WHERE realm_id = ? LIMIT 1', // the first index entry
  'DELETE FROM channel_address WHERE sender_id = ?', // few rows, when a user is logged out everywhere
  'DELETE FROM job WHERE realm_id = ?', // after all its rows are deleted
];
/** Indexes selective enough on their own for rows of a realm. */
const NARROW_INDEXES = [
  'user_system_bots',
  'user_bots',
  'user_group_deactivated',
  'allowed_domain_by_name',
  'channel_folder_by_name',
  'default_channel_group_by_name',
  'hold_by_realm',
  'host_data_of_realm',
  'linkifier_in_order',
  'playground_by_realm',
  'custom_emoji_by_realm',
  'realm_export_by_realm',
  'import_batch_by_realm',
  'import_run_by_realm',
  'imported_messages_of_realm',
  'placeholder_key_by_key',
  'data_schema_by_kind', // at most four rows
  'channel_closing_by_realm', // lists are unused, rows are found by id
  'erasure_by_realm',
  'invitation_open',
  'user_group_anonymous',
  'user_reading_all_notices',
  'user_notified_of_channels',
  'profile_field_by_place',
  'channel_web_public',
  'user_guests',
];

/** Without statistics, SQLite prefers `realm_id = ?` and so would scan all rows of a realm. */
it('finds few rows of an organization without scanning all of them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-plans-'));
  const statements = new Set<string>();
  for (const shape of ['rows', 'values', 'tuples', 'command'] as const) {
    const original = Connection.prototype[shape] as (sql: string) => never;
    jest.spyOn(Connection.prototype, shape).mockImplementation(function (this: Connection, sql: string) {
      statements.add(sql);
      return original.call(this, sql);
    });
  }
  const path = join(directory, 'plans.db');
  const storage = openSqliteStorage({ path, clock: new FixedClock() });
  await storage.uow.writeAcross(async () => {});
  await storage.uow.readAcross(async () => {});
  jest.restoreAllMocks();
  const database = new Sqlite(path, { readonly: true });
  defineSearchFunctions(database, PLAIN_TEXTS);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];

  const found: string[] = [];
  for (const sql of statements) {
    const text = sql.replace(/\s+/g, ' ').trim();
    if (ABOUT_WHOLE_REALMS.some((start) => text.startsWith(start))) continue;
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...valuesFor(sql)) as { readonly detail: string }[];
    for (const { detail } of steps) {
      const isScan =
        !detail.includes('VIRTUAL TABLE') &&
        tables.includes(/^SCAN (\w+)/.exec(detail)?.[1] ?? '') &&
        !/^INSERT|^DELETE/.test(text);
      const isRealm = /\(realm_id=\?\)$/.test(detail) && !NARROW_INDEXES.some((name) => detail.includes(` ${name} `));
      if ((isScan && !detail.includes('sqlite_sequence')) || isRealm) found.push(`${detail}: ${text}`);
    }
  }
  database.close();
  await storage.close();
  rmSync(directory, { recursive: true });
  expect(statements.size).toBeGreaterThan(150);
  expect(found).toEqual([]);
});

const valuesFor = (sql: string): readonly null[] => Array.from({ length: sql.split('?').length - 1 }, () => null);
