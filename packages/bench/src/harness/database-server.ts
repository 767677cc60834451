import { migratePostgres, movePostgres } from '@parley/postgres';
import { createDatabase, findBinaries, startServer, type TestServer } from '@parley/postgres/testing';
import { openTableSource } from '@parley/sqlite';

/** Variables of servers on PostgreSQL. Neither files nor emails are used. */
export const NODE_ENVIRONMENT = {
  PARLEY_FILES: 's3:bench?endpoint=http://127.0.0.1:9',
  PARLEY_SMTP_URL: 'smtp://127.0.0.1:9',
};

/** Variable that names the server for `createDatabase`. */
const SERVER = 'PARLEY_TEST_POSTGRES';

/** Private PostgreSQL server with durable commits, for the time of a workload. */
export class DatabaseServer {
  private constructor(private readonly server: TestServer) {}

  /** @throws Error if PostgreSQL is not installed */
  static async start(): Promise<DatabaseServer> {
    const binaries = findBinaries();
    if (binaries === null) throw new Error('PostgreSQL is not installed');
    const server = await startServer(binaries, { settings: { autovacuum: 'on', max_connections: '300' } });
    return new DatabaseServer(server);
  }

  /** Returns the URL of a database with the schema. */
  async empty(): Promise<string> {
    const url = await this.create();
    await migratePostgres(url);
    return url;
  }

  /** Moves a SQLite database and returns its new URL. */
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
      // Measured servers refuse variables that are no settings.
      delete process.env[SERVER];
    }
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}
