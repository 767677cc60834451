import { hostname } from 'node:os';
import type { NodeState } from '@parley/domain/kernel';
import type { ClientBase, Pool } from 'pg';

/** Server that uses the database. */
export interface ServerNode {
  /** Machine and process. */
  readonly name: string;
  readonly release: string;
  /** Seconds since it last reported. */
  readonly age: number;
}

/** Time after which a silent server counts as gone. */
const GONE_SECONDS = 60;

const REPORT = `
  INSERT INTO server_node (id, name, release, seen_at) VALUES ($1, $2, $3, now())
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`;

const STATE = `
  INSERT INTO server_fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** Name of the fact with a server's state. */
const factOf = (id: string): string => `node ${id}`;

/** Returns servers that have reported recently, by name. */
export async function listNodes(client: ClientBase): Promise<readonly ServerNode[]> {
  const { rows } = await client.query<ServerNode>(
    `SELECT name, release, extract(epoch FROM now() - seen_at)::int AS age FROM server_node
     WHERE seen_at > now() - make_interval(secs => ${GONE_SECONDS}) ORDER BY name`,
  );
  return rows;
}

/** This server's row. */
export class OwnNode {
  constructor(
    private readonly pool: Pool,
    /** Unique among servers and starts. */
    private readonly id: string,
    private readonly release: string,
  ) {}

  /** Returns the ids of servers that are gone, each to one server. */
  async report(state?: NodeState): Promise<readonly string[]> {
    await this.pool.query(REPORT, [this.id, `${hostname()}, process ${process.pid}`, this.release]);
    if (state) await this.pool.query(STATE, [factOf(this.id), JSON.stringify(state)]);
    const { rows } = await this.pool.query<{ readonly id: string }>(
      `DELETE FROM server_node WHERE seen_at < now() - make_interval(secs => ${GONE_SECONDS}) RETURNING id`,
    );
    const gone = rows.map(({ id }) => id);
    if (gone.length > 0) await this.removeStates(gone);
    return gone;
  }

  async remove(): Promise<void> {
    await this.removeStates([this.id]);
    await this.pool.query('DELETE FROM server_node WHERE id = $1', [this.id]);
  }

  private async removeStates(ids: readonly string[]): Promise<void> {
    await this.pool.query('DELETE FROM server_fact WHERE name = ANY($1)', [ids.map(factOf)]);
  }
}
