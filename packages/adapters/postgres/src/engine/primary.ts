import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf } from '@parley/domain/kernel';
import type { Client, ClientConfig } from 'pg';

export type ClientClass = new (config?: ClientConfig) => Client;

/** Timeout for a host that does not respond. */
const PROBE_MS = 2000;
/** Time for slower hosts to respond after a primary has. */
const GRACE_MS = 250;
/** Pause between two searches. */
const PAUSE_MS = 250;

/** A promoted standby begins a new timeline. */
const PROBE = `
  SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only,
    CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

/** Returns the timeline of a primary. @throws Error if the host is none or does not respond */
async function timelineOf(Client: ClientClass, connectionString: string): Promise<string> {
  const socket = new Socket();
  const client = new Client({
    connectionString,
    application_name: 'parley',
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    stream: () => socket,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { is_standby, is_read_only, timeline } = (await client.query(PROBE)).rows[0];
    if (is_standby) throw new Error('it is a standby');
    if (is_read_only) throw new Error('it is read-only');
    return timeline;
  } finally {
    // A connection that cannot end properly is already broken.
    client.end().catch(() => {});
    // A frozen server would keep the connection open.
    socket.destroySoon();
  }
}

/**
 * Returns the URL of the primary among several hosts. A former primary has an older timeline and is not chosen if the
 * promoted standby responds. A single host is returned unseen.
 * @throws Error with a SQLSTATE if no host is a primary
 */
export async function findPrimary(Client: ClientClass, urls: readonly string[]): Promise<string> {
  if (urls.length === 1) return firstOf(urls);
  const timelines = new Map<string, string>();
  const probes = urls.map(async (url) => timelines.set(url, await timelineOf(Client, url)));
  try {
    await Promise.any(probes);
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(
      ({ message, code }: NodeJS.ErrnoException, n) => `${new URL(urls[n]!).host}: ${message || code}`,
    );
    throw Object.assign(new Error(`no host is a primary (${reasons.join('; ')})`), { code: '08006' });
  }
  await Promise.race([Promise.allSettled(probes), sleep(GRACE_MS)]);
  const [[url]] = [...timelines].sort(([, a], [, b]) => (a < b ? 1 : -1)) as [[string, string]];
  return url;
}

/** Current primary of a database with several hosts. */
export class Primary {
  private readonly sockets = new Map<Socket, string>();
  private isSearching = false;

  private constructor(
    private readonly Driver: ClientClass,
    private readonly urls: readonly string[],
    private url: string,
  ) {}

  /** @throws Error if no host is a primary */
  static async find(Driver: ClientClass, urls: readonly string[]): Promise<Primary> {
    return new Primary(Driver, urls, await findPrimary(Driver, urls));
  }

  /** Class of connections to the current primary. */
  get Client(): ClientClass {
    const { Driver } = this;
    const config = () => (this.urls.length > 1 ? { connectionString: this.url, stream: () => this.newSocket() } : {});
    return class extends Driver {
      constructor(options?: ClientConfig) {
        super({ ...options, ...config() });
      }
    };
  }

  /**
   * Looks for another primary; called when the current one fails or does not respond. Connections to the former one
   * are closed, even if it no longer responds.
   */
  search(): void {
    if (this.urls.length === 1 || this.isSearching) return;
    this.isSearching = true;
    findPrimary(this.Driver, this.urls)
      .then((url) => this.use(url))
      // The next failed connection searches again if no primary answers.
      .catch(() => {})
      .then(() => sleep(PAUSE_MS))
      .finally(() => {
        this.isSearching = false;
      });
  }

  private use(url: string): void {
    this.url = url;
    for (const [socket, target] of this.sockets) if (target !== url) socket.destroy();
  }

  private newSocket(): Socket {
    const socket = new Socket();
    this.sockets.set(socket, this.url);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}
