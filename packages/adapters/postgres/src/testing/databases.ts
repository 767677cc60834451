import { createHash, randomBytes } from 'node:crypto';
import { checksumOf } from '@parley/storage';
import pg from 'pg';
import { migratePostgres } from '../database.js';
import { MIGRATIONS } from '../features.js';

/** Name of the database with the current schema that tests copy. */
const TEMPLATE = `parley_template_${createHash('sha256').update(MIGRATIONS.map(checksumOf).join()).digest('hex').slice(0, 12)}`;
/** Advisory lock of the worker that creates the template. */
const TEMPLATE_LOCK = 1;

let hasTemplate: Promise<void> | undefined;

/** Connects to the server of this test run. */
async function administer(work: (client: pg.Client) => Promise<unknown>, url = serverUrl()): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env.PARLEY_TEST_POSTGRES;
  if (!url) throw new Error('PARLEY_TEST_POSTGRES is not set; use npm run test:postgres');
  return url;
}

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

const createTemplate = () =>
  administer(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
    if (rowCount) return;
    const unfinished = `${TEMPLATE}_unfinished`;
    await client.query(`DROP DATABASE IF EXISTS ${unfinished}`);
    await client.query(`CREATE DATABASE ${unfinished} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`);
    await migratePostgres(urlOf(unfinished));
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${TEMPLATE}`);
  });

/** Makes the log of a copy continue the original's numbers. */
async function keepNumbers(client: pg.Client): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass('server_fact') IS NOT NULL AS has_schema");
  if (rows[0].has_schema) await client.query("DELETE FROM server_fact WHERE name = 'history'");
}

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Executes a statement outside the servers under test. */
  run(sql: string): Promise<void>;
  query(sql: string): Promise<readonly object[]>;
  drop(): Promise<void>;
}

/** Creates a database for one test: a copy of an unused database, or of the template with the schema. */
export async function createDatabase({ copyOf = TEMPLATE } = {}): Promise<TestDatabase> {
  hasTemplate ??= createTemplate();
  await hasTemplate;
  const name = `parley_${randomBytes(8).toString('hex')}`;
  // Copying files takes less time than the default, which writes them to the WAL.
  await administer((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${copyOf} STRATEGY FILE_COPY`));
  if (copyOf !== TEMPLATE) await administer(keepNumbers, urlOf(name));
  return {
    name,
    url: urlOf(name),
    run: (sql) => administer((client) => client.query(sql), urlOf(name)),
    async query(sql) {
      let rows: readonly object[] = [];
      await administer(async (client) => {
        ({ rows } = await client.query(sql));
      }, urlOf(name));
      return rows;
    },
    drop: () => administer((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)),
  };
}
