import { type ClusterGauges, firstOf, type NodeState } from '@parley/domain/kernel';
import type { ClientBase } from 'pg';
import type { ClientClass } from './primary.js';

export interface NodeStatus {
  readonly id: string;
  /** Machine and process. */
  readonly name: string;
  readonly release: string;
  /** Seconds since the last report; servers report every ten seconds. */
  readonly age: number;
  /** Null directly after the start. */
  readonly state: NodeState | null;
  /** Recurring work that it performs exclusively. */
  readonly leases: readonly string[];
}

export interface HostStatus {
  readonly host: string;
  readonly role: 'primary' | 'standby' | 'unavailable';
  /** Reason; null for an available host. */
  readonly problem: string | null;
  /** Bytes of the log that a standby has not replayed; null if unknown. */
  readonly lagBytes: number | null;
}

export interface ClusterStatus {
  /** Null if no host is a primary. */
  readonly nodes: readonly NodeStatus[] | null;
  readonly hosts: readonly HostStatus[];
}

const NODES = `
  SELECT n.id, n.name, n.release, extract(epoch FROM now() - n.seen_at)::int AS age, f.value AS state,
    ARRAY(SELECT l.name FROM worker_lease l WHERE l.holder = n.id AND l.until > extract(epoch FROM now()) ORDER BY l.name)
      AS leases
  FROM server_node n LEFT JOIN server_fact f ON f.name = 'node ' || n.id
  ORDER BY n.name`;

/** Returns the running servers and those that ended without notice within the last minute, by name. */
export async function listNodeStatus(client: Pick<ClientBase, 'query'>): Promise<readonly NodeStatus[]> {
  const { rows } = await client.query<Omit<NodeStatus, 'state'> & { readonly state: string | null }>(NODES);
  return rows.map((row) => ({ ...row, state: row.state === null ? null : (JSON.parse(row.state) as NodeState) }));
}

const STANDBYS = `
  SELECT concat_ws(' ', application_name, host(client_addr)) AS name,
    pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 AS lag
  FROM pg_stat_replication WHERE replay_lsn IS NOT NULL`;

/** Returns the state of the cluster for the metrics of one server. */
export async function readClusterGauges(client: Pick<ClientBase, 'query'>, ownId: string): Promise<ClusterGauges> {
  const nodes = new Map<string, number>();
  let leases = 0;
  for (const node of await listNodeStatus(client)) {
    nodes.set(node.release, (nodes.get(node.release) ?? 0) + 1);
    if (node.id === ownId) leases = node.leases.length;
  }
  const { rows } = await client.query<{ readonly name: string; readonly lag: number }>(STANDBYS);
  return { nodes, leases, standbys: new Map(rows.map(({ name, lag }) => [name, lag])) };
}

const ROLE = `
  SELECT pg_is_in_recovery() AS is_standby,
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0' AS position`;

interface Role {
  readonly is_standby: boolean;
  readonly position: string;
}

/** Asks each host for its role. */
export async function hostStatuses(Driver: ClientClass, urls: readonly string[]): Promise<readonly HostStatus[]> {
  const hosts = await Promise.all(urls.map((url) => roleOf(Driver, url)));
  const head = hosts.reduce(
    (most, { role }) => (role?.is_standby === false ? Math.max(most, Number(role.position)) : most),
    0,
  );
  return hosts.map(({ host, role, problem }) => {
    if (!role) return { host, role: 'unavailable', problem, lagBytes: null };
    if (!role.is_standby) return { host, role: 'primary', problem: null, lagBytes: null };
    return {
      host,
      role: 'standby',
      problem: null,
      lagBytes: head > 0 ? Math.max(0, head - Number(role.position)) : null,
    };
  });
}

const PATIENCE_MS = 2000;

async function roleOf(Driver: ClientClass, url: string) {
  const { host: server, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? server;
  const client = new Driver({
    connectionString: url,
    application_name: 'parley',
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return { host, role: firstOf((await client.query<Role>(ROLE)).rows), problem: null };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return { host, role: null, problem: message || String(code) };
  } finally {
    // A connection that cannot end properly is already broken.
    client.end().catch(() => {});
  }
}
