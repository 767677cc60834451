import type { NodeStatus } from '@parley/postgres';
import type { Configuration } from '../configuration/configuration.js';
import { reasonOf } from '../doctor/log-in.js';
import { StartupError } from '../kernel/startup-error.js';
import { parleyVersion } from '../version.js';
import { always, type Command, EXIT_CODES } from './command.js';

/** State of the bus as seen from this machine. */
async function examineBus({
  busLocation,
}: Configuration): Promise<{ readonly version?: string; readonly problem?: string } | null> {
  if (!busLocation) return null;
  const { examineNats } = await import('@parley/bus-nats');
  try {
    return { version: await examineNats(busLocation) };
  } catch (error) {
    return { problem: reasonOf(error as Error) };
  }
}

const rowOf = ({ name, release, age, state, leases }: NodeStatus): readonly string[] => [
  name,
  release,
  `${age} s ago`,
  state === null ? '?' : String(state.undelivered),
  state === null ? '?' : (state.bus ?? 'none'),
  state === null ? '?' : state.usesReplica === null ? 'none' : state.usesReplica ? 'used' : 'away',
  String(leases.length),
];

/** Returns lines with aligned columns. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = heads.map((head, n) => Math.max(head.length, ...rows.map((row) => row[n]!.length)));
  return [heads, ...rows].map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n]!))
      .join('  ')
      .trimEnd(),
  );
}

export const CLUSTER_COMMANDS: readonly Command[] = [
  {
    name: 'cluster status',
    help: 'shows the servers of a database, the roles of its hosts, and the bus',
    details: [
      'Lists release, last report, undelivered events, bus, read replica and leases of each server, and role and lag of each host.',
      'Exit code 3: a host or the bus is unavailable. --json also names the leases.',
    ].join('\n'),
    examples: ['parley cluster status', 'parley cluster status --json'],
    isReadOnly: always,
    async run({ invocation: { configuration } }) {
      const { database, databaseReplica } = configuration;
      if (database.kind !== 'postgres') {
        throw new StartupError('parley cluster status requires a PostgreSQL database shared by several servers.');
      }
      const { statusOfCluster } = await import('@parley/postgres');
      const [{ nodes, hosts }, bus] = await Promise.all([
        statusOfCluster(database.url, databaseReplica),
        examineBus(configuration),
      ]);
      const isHealthy = nodes !== null && !hosts.some(({ problem }) => problem !== null) && bus?.problem === undefined;
      return {
        lines: [
          ...table(['NODE', 'RELEASE', 'SEEN', 'EVENTS BEHIND', 'BUS', 'REPLICA', 'LEASES'], (nodes ?? []).map(rowOf)),
          ...(nodes === null ? ['The nodes are unknown, because no host is a primary.'] : []),
          '',
          ...table(
            ['DATABASE', 'ROLE', 'LAG'],
            hosts.map(({ host, role, lagBytes, problem }) => [
              host,
              role,
              problem ?? (lagBytes === null ? '' : `${lagBytes} bytes`),
            ]),
          ),
          '',
          `Bus: ${bus === null ? 'none' : (bus.problem ?? `NATS ${bus.version}`)}`,
        ],
        data: { nodes, hosts, bus },
        ...(!isHealthy && { exitCode: EXIT_CODES.found }),
      };
    },
  },
  {
    name: 'cluster finish-upgrade',
    help: 'finishes the upgrade of a cluster once all servers run this release',
    details: [
      'Until then, servers with the previous release can still be started. The command runs the schema steps that are incompatible',
      'with the previous release. It fails while a server with another release is running or was killed within the last minute.',
    ].join('\n'),
    examples: ['parley cluster finish-upgrade'],
    async run({ invocation }) {
      const { database } = invocation.configuration;
      if (database.kind !== 'postgres') {
        throw new StartupError(
          'parley cluster finish-upgrade requires a PostgreSQL database shared by several servers.',
        );
      }
      const { finishUpgradeOfPostgres } = await import('@parley/postgres');
      const release = parleyVersion();
      const { others, done } = await finishUpgradeOfPostgres(database.url, release);
      if (others.length > 0) {
        const list = others.map((node) => `${node.name} (release ${node.release}, ${node.age} s ago)`);
        throw new StartupError(`Servers with a release other than ${release} are running: ${list.join('; ')}.`);
      }
      return {
        lines: [
          `The upgrade to ${release} is finished; servers with older releases are rejected.`,
          ...(done.length > 0 ? [`Applied: ${done.join(', ')}.`] : []),
        ],
        data: { release, done },
      };
    },
  },
];
