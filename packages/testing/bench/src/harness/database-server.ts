import { migratePostgres, movePostgres } from '@parley/postgres';
import { createDatabase, findBinaries, startServer, type TestServer } from '@parley/postgres/testing';
import { openTableSource } from '@parley/sqlite';

/** Environment variables of servers on PostgreSQL. Files and emails are unused. */
export const NODE_ENVIRONMENT = {
  PARLEY_FILES: 's3:bench?endpoint=http://127.0.0.1:9',
  PARLEY_SMTP_URL: 'smtp://127.0.0.1:9',
};

/** Variable that names the server for `createDatabase`. */
const SERVER = 'PARLEY_TEST_POSTGRES';

/** Temporary PostgreSQL server with durable commits. */
export class DatabaseServer {
  private constructor(private readonly server: TestServer) {}

  /** @throws Error if PostgreSQL is not installed */
  static async start(): Promise<DatabaseServer> {
    const binaries = findBinaries();
    if (binaries === null) throw new Error('PostgreSQL is not installed');
    const server = await startServer(binaries, { settings: { autovacuum: 'on', max_connections: '300' } });
    return new DatabaseServer(server);
  }

  /** Returns the URL of an empty database with the schema. */
  async empty(): Promise<string> {
    const url = await this.create();
    await migratePostgres(url);
    return url;
  }

  /** Migrates a SQLite database and returns its new URL. */
  async filledFrom(path: string): Promise<string> {
    const url = await this.create();
    const source = openTableSource(path);
    await movePostgres(url, source, () => {});
    source.close();
    return url;
  }

  private async create(): Promise<string> {
    process.env[SERVER] = this.server.url;
    try {
      return (await createDatabase({ copyOf: 'template0' })).url;
    } finally {
      // Measured servers reject unknown variables.
      delete process.env[SERVER];
    }
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
