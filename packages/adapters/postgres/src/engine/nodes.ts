import { hostname } from 'node:os';
import type { NodeState } from '@parley/domain/kernel';
import { DatabaseRefused } from '@parley/storage';
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

const REMOVE_GONE = `
  DELETE FROM server_node WHERE seen_at < now() - make_interval(secs => ${GONE_SECONDS}) OR id = ANY($1) RETURNING id`;

const FACT = `
  INSERT INTO server_fact (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** Names of the facts with a server's state and its folder of files. */
const factsOf = (id: string): readonly [state: string, folder: string] => [`node ${id}`, `files of ${id}`];

/** Location of the files of a process that uses the database. */
export interface NodeFiles {
  /** Path of its folder; null for a store that several servers can use. */
  readonly folder: string | null;
  /** True if the folder is marked as that of a database. A process of the same folder is on the same machine. */
  readonly isMarked: boolean;
  /** True if the process with this id was on this machine and has ended. */
  readonly hasEnded: (id: string) => boolean;
}

const SHARED_FILES: NodeFiles = { folder: null, isMarked: false, hasEnded: () => false };

interface OtherNode {
  readonly id: string;
  readonly name: string;
  readonly folder: string | null;
}

const OTHERS = `
  SELECT n.id, n.name, f.value AS folder FROM server_node n LEFT JOIN server_fact f ON f.name = 'files of ' || n.id
  WHERE n.id <> $1 AND n.seen_at > now() - make_interval(secs => ${GONE_SECONDS}) ORDER BY n.id`;

/**
 * A database with files in a folder has one server, and commands use that folder. `id` is empty for a command.
 * Returns the ids of servers that have ended without notice. @throws DatabaseRefused
 */
export async function requireSameFiles(
  client: Pick<ClientBase, 'query'>,
  { folder, isMarked, hasEnded }: NodeFiles = SHARED_FILES,
  id = '',
): Promise<readonly string[]> {
  const { rows } = await client.query<OtherNode>(OTHERS, [id]);
  const ended = isMarked ? rows.filter((other) => hasEnded(other.id)) : [];
  for (const other of rows) {
    if (ended.includes(other)) continue;
    if (other.folder === null && folder !== null)
      throw new DatabaseRefused(
        `PARLEY_FILES names a folder, which only one server can use, but ${other.name} uses the database too: name the bucket of ` +
          'that server, or stop it first (after a crash, it counts as running for a minute).',
      );
    if (other.folder !== null && (id !== '' || folder === null || !isMarked))
      throw new DatabaseRefused(
        `${other.name} has the files of this database in its folder ${other.folder}, which only one server can use: ` +
          (id === ''
            ? 'run the command on that machine with the same PARLEY_FILES.'
            : 'stop that server first (after a crash, it counts as running for a minute), or move the files to a bucket for all servers.'),
      );
  }
  return ended.map((other) => other.id);
}

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
    /** Unique among servers and starts. */
    private readonly id: string,
    private readonly release: string,
    private readonly files: NodeFiles = SHARED_FILES,
  ) {}

  /** Returns the ids of servers that are gone, each to one server. @throws DatabaseRefused if another one excludes this one */
  async report(client: ClientBase, state?: NodeState): Promise<readonly string[]> {
    await client.query('BEGIN');
    try {
      // Lets one of two servers that start at the same time see the other.
      await client.query('LOCK TABLE server_node IN SHARE ROW EXCLUSIVE MODE');
      const ended = await requireSameFiles(client, this.files, this.id);
      const { rows } = await client.query<{ readonly id: string }>(REMOVE_GONE, [ended]);
      const gone = rows.map(({ id }) => id);
      if (gone.length > 0) await removeFacts(client, gone);
      const [stateName, folderName] = factsOf(this.id);
      await client.query(REPORT, [this.id, `${hostname()}, process ${process.pid}`, this.release]);
      if (state) await client.query(FACT, [stateName, JSON.stringify(state)]);
      if (this.files.folder !== null) await client.query(FACT, [folderName, this.files.folder]);
      await client.query('COMMIT');
      return gone;
    } catch (error) {
      // The rollback fails only with its connection, which ends the transaction as well.
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async remove(pool: Pool): Promise<void> {
    await removeFacts(pool, [this.id]);
    await pool.query('DELETE FROM server_node WHERE id = $1', [this.id]);
  }
}

const removeFacts = (client: Pick<ClientBase, 'query'>, ids: readonly string[]) =>
  client.query('DELETE FROM server_fact WHERE name = ANY($1)', [ids.flatMap(factsOf)]);
