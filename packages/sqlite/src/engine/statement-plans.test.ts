import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage } from '../index.js';
import { defineSearchFunctions } from '../messages/conditions.js';
import { Connection } from './connection.js';

/** Statements that concern a whole organization or all of them, by their beginning. */
const ABOUT_WHOLE_REALMS = [
  'INSERT INTO realm ', // its foreign keys are looked through, while it is empty
  'SELECT id, version FROM realm ORDER BY id',
  'SELECT json_group_array(id), json_group_array(version), json_group_array(is_active) FROM (SELECT id, version',
  'SELECT subgroup_id, group_id FROM group_subgroup WHERE realm_id = ?',
  'SELECT json_group_array(id), json_group_array(version) FROM (SELECT id, version FROM channel WHERE realm_id = ?',
  'SELECT json_group_array(id), json_group_array(version), json_group_array(subscriber_count) FROM (SELECT',
  'SELECT 1 FROM channel WHERE realm_id = ? AND privacy', // few
  'SELECT recipient_id FROM channel WHERE realm_id = ? AND privacy', // the same
  'SELECT s.realm_id, max(s.pruned_up_to', // one row a realm
  'SELECT q.realm_id, q.owner_id FROM realm r', // one entry a realm, once, after the start
  'SELECT user_id, last_active, last_connected, update_id FROM presence WHERE realm_id = ?', // once, when first asked for
  'SELECT * FROM user_status WHERE realm_id = ?', // register answers all of them
  'SELECT realm_id, user_id, generation FROM api_key', // once, at start
  'SELECT * FROM channel_folder WHERE realm_id = ? ORDER BY position', // all that there are
  'SELECT * FROM default_channel_group WHERE realm_id = ? ORDER BY name', // the same
  'SELECT min((SELECT m.id FROM message m', // searches a quiet realm among busy ones through the index of the realm
  'SELECT email, bounced_at AS "bouncedAt", reason FROM bounced_address INDEXED BY', // the newest, up to a limit
  'SELECT min(floor_seq) FROM event_queue', // the first entry of the index
  'SELECT name FROM event_consumer ORDER BY name', // fifty at most
  'SELECT coalesce(sum(size), 0) FROM picture WHERE realm_id = ?', // when an export is asked for, a few a week
  'DELETE FROM session WHERE id IN (SELECT id FROM session WHERE realm_id = ? LIMIT', // all of them, so many at a time
  'SELECT 1 FROM authenticator_app WHERE realm_id = ? LIMIT 1', // the first entry of the index
  'SELECT 1 FROM passkey WHERE realm_id = ? LIMIT 1', // the same
  'SELECT user_id FROM linked_account WHERE realm_id = ? AND method = ?', // all of them, when a directory is synchronized
  'SELECT user_id FROM removed_user WHERE realm_id = ?', // all of them, for pages of SCIM
  'SELECT group_id AS "groupId", external_id AS "externalId", is_removed AS "isRemoved" FROM provisioned_group', // the same
  'SELECT realm_id AS "realmId", name, created_at AS "createdAt" FROM provisioning_token', // ten at most
  'DELETE FROM realm WHERE id = ?', // its foreign keys are looked through, when nothing is left of it
  'DELETE FROM job WHERE realm_id = ?', // the same
];
/** Indexes that lead to few rows of a realm on their own. */
const NARROW_INDEXES = [
  'user_system_bots',
  'user_bots',
  'user_group_deactivated',
  'allowed_domain_by_name',
  'linkifier_in_order',
  'playground_by_realm',
  'custom_emoji_by_realm',
  'realm_export_by_realm',
  'invitation_open',
  'user_group_anonymous',
  'user_reading_all_notices',
  'user_notified_of_channels',
  'profile_field_by_place',
];

/** Without statistics, SQLite prefers `realm_id = ?` and so would scan all rows of a realm. */
it('no statement scans all rows of an organization to find a few', async () => {
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
