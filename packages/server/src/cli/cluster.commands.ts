import { StartupError } from '../kernel/startup-error.js';
import { parleyVersion } from '../version.js';
import type { Command, CommandContext, CommandResult } from './command.js';

async function finishUpgrade({ invocation }: CommandContext): Promise<CommandResult> {
  const { database } = invocation.configuration;
  if (database.kind !== 'postgres') {
    throw new StartupError('parley cluster finish-upgrade requires a PostgreSQL database shared by several servers.');
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
}

export const CLUSTER_COMMANDS: readonly Command[] = [
  {
    name: 'cluster finish-upgrade',
    help: 'finishes the upgrade of a cluster once all servers run this release',
    details: [
      'Until then, servers with the previous release can still be started. The command runs the schema steps that are incompatible',
      'with the previous release. It refuses while a server with another release is running or was killed within the last minute.',
    ].join('\n'),
    examples: ['parley cluster finish-upgrade'],
    run: finishUpgrade,
  },
];
