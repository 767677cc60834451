import { PALETTE } from '@parley/domain/channels';
import { createParley, type Parley } from '@parley/server';
import Sqlite, { type Database } from 'better-sqlite3';
import { SECRET } from '../harness/parley-server.js';
import type { WorldBuilder } from '../lab.js';

export const REALM = 'shop';
export const STAFF = 50;
/** Fraction of the orders that are not archived. */
const OPEN = 1 / 10;

const nameOf = (order: number): string => `Order ${order}`;
export const staffId = (number: number): string => `staff ${number}`;
export const customerId = (order: number): string => `customer ${order}`;
export const emailOf = (externalId: string): string => `${externalId.replace(' ', '-')}@shop.example`;

const everyStaffId = Array.from({ length: STAFF }, (_, n) => staffId(n));

export const openParley = (database: string): Promise<Parley> =>
  createParley({
    ...{ database: `sqlite:${database}`, url: 'http://localhost', secret: SECRET },
    rateLimits: false,
    shedsLoad: false,
  });

/** Access of the staff to orders: all are subscribed to each order, or the one who answers it. */
export type Staffing = 'subscribed' | 'readers';

/** Steps of one order in docs/guides/support-chat.md. */
export const orderSteps = (staffing: Staffing) =>
  ({
    upsert: (parley: Parley, order: number) =>
      parley.users.upsert({
        ...{ realm: REALM, externalId: customerId(order), name: `Customer ${order}`, role: 'guest' },
        email: emailOf(customerId(order)),
      }),
    ensure: (parley: Parley, order: number) =>
      parley.as({ realm: REALM, externalId: staffId(0) }).channels.ensure({
        ...{ name: nameOf(order), isPrivate: true, sharesHistory: true },
        ...(staffing === 'readers'
          ? { subscribers: [customerId(order)], readers: 'role:members' }
          : { subscribers: [customerId(order), ...everyStaffId] }),
      }),
    send: (parley: Parley, order: number) =>
      parley
        .as({ realm: REALM, externalId: customerId(order) })
        .messages.send({ channel: nameOf(order), topic: 'Support', content: 'Where is my parcel?' }),
  }) satisfies Record<string, (parley: Parley, order: number) => Promise<unknown>>;

export interface Shop {
  readonly orders: number;
  /** Bytes of the database per order, without events. */
  readonly bytesPerOrder: number;
}

/** Shop of the guide with its staff and many orders of one message each. */
export const shopWith = (orders: number, staffing: Staffing): WorldBuilder<Shop> =>
  async function shop(database) {
    const parley = await openParley(database);
    await parley.realms.ensure({ name: REALM, title: 'The Shop', preset: 'customers' });
    for (const externalId of everyStaffId) {
      const email = emailOf(externalId);
      await parley.users.upsert({ realm: REALM, externalId, email, name: `Staff ${externalId}`, role: 'owner' });
    }
    for (const step of Object.values(orderSteps(staffing))) await step(parley, 1);
    await parley.close();
    return { orders, bytesPerOrder: copyOrder(database, orders) };
  };

/** SQL of columns that differ between orders, by table; `n` counts the copies. */
const COPIED: Readonly<Record<string, { readonly where: string; readonly columns: Readonly<Record<string, string>> }>> =
  {
    user: {
      where: 't.id = :customer',
      columns: {
        id: 't.id + n',
        ...Object.fromEntries(
          ['email', 'email_key'].map((name) => [name, "'customer-' || (n + 1) || '@shop.example'"]),
        ),
        full_name: "'Customer ' || (n + 1)",
        ...Object.fromEntries(['name_key', 'name_nfkc_key'].map((name) => [name, "'customer ' || (n + 1)"])),
        external_id: "'customer ' || (n + 1)",
      },
    },
    api_key: {
      where: 't.user_id = :customer',
      columns: { user_id: 't.user_id + n', fingerprint: 't.fingerprint || n' },
    },
    onboarding_step: { where: 't.user_id = :customer', columns: { user_id: 't.user_id + n' } },
    group_member: { where: 't.user_id = :customer', columns: { user_id: 't.user_id + n' } },
    channel: {
      where: 't.id = :channel',
      columns: {
        id: 't.id + n',
        recipient_id: 't.recipient_id + n',
        first_message_id: 't.first_message_id + n',
        name: "'Order ' || (n + 1)",
        name_key: "'order ' || (n + 1)",
        is_archived: `n % ${1 / OPEN} <> 0`,
      },
    },
    recipient: { where: 't.channel_id = :channel', columns: { id: 't.id + n', channel_id: 't.channel_id + n' } },
    ...Object.fromEntries(
      ['subscription', 'topic_policy'].map((table) => [
        table,
        {
          where: 't.channel_id = :channel',
          columns: {
            user_id: 't.user_id + (t.user_id = :customer) * n',
            channel_id: 't.channel_id + n',
            color: `'${JSON.stringify(PALETTE)}' ->> (n % ${PALETTE.length})`,
          },
        },
      ]),
    ),
    ...Object.fromEntries(
      ['span', 'read_segment'].map((table) => [
        table,
        {
          where: 't.recipient_id = :recipient',
          columns: { user_id: 't.user_id + (t.user_id = :customer) * n', recipient_id: 't.recipient_id + n' },
        },
      ]),
    ),
    message: {
      where: 't.channel_id = :channel',
      columns: {
        id: 't.id + n',
        sender_id: 't.sender_id + n',
        ...Object.fromEntries(
          ['recipient_id', 'sent_recipient_id', 'channel_id'].map((name) => [name, `t.${name} + n`]),
        ),
      },
    },
  };

/** Copies the rows of the only order, because creating orders by calls would take minutes. Returns bytes per copy. */
function copyOrder(path: string, orders: number): number {
  const database = new Sqlite(path);
  database.pragma('foreign_keys = OFF');
  database.pragma('synchronous = OFF');
  const ids = database
    .prepare<[], { readonly channel: number; readonly recipient: number; readonly customer: number }>(
      `SELECT c.id AS channel, c.recipient_id AS recipient, u.id AS customer
       FROM channel c, user u WHERE c.name = 'Order 1' AND u.external_id = 'customer 1'`,
    )
    .get()!;
  const triggers = database
    .prepare<[], { readonly name: string; readonly sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    )
    .all();
  const sizeOf = () => (database.pragma('page_count', { simple: true }) as number) * 4096;
  const before = sizeOf();
  database.transaction(() => {
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
    for (const table of Object.keys(COPIED)) copyRows(database, table, ids, orders - 1);
    for (const { sql } of triggers) database.exec(sql);
    // Indexing of the copies would count for the measured calls.
    database.exec('UPDATE search_backlog SET indexed_up_to = (SELECT max(id) FROM message)');
  })();
  const bytes = sizeOf() - before;
  database.close();
  return orders > 1 ? bytes / (orders - 1) : 0;
}

function copyRows(database: Database, table: string, ids: object, copies: number): void {
  const { where, columns } = COPIED[table]!;
  const names = database.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  database
    .prepare(
      `WITH RECURSIVE copy (n) AS (SELECT 1 WHERE :copies > 0 UNION ALL SELECT n + 1 FROM copy WHERE n < :copies)
       INSERT INTO ${table} (${names.join()})
       SELECT ${names.map((name) => columns[name] ?? `t.${name}`).join()}
       FROM (SELECT * FROM ${table} t WHERE ${where}) t CROSS JOIN copy`,
    )
    .run({ ...ids, copies });
}
