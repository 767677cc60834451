import { StartupError } from '../kernel/startup-error.js';
import { parleyVersion } from '../version.js';
import type { Command, CommandContext, CommandResult } from './command.js';

async function finishUpgrade({ invocation }: CommandContext): Promise<CommandResult> {
  const { database } = invocation.configuration;
  if (database.kind !== 'postgres') {
    throw new StartupError(
      'parley cluster finish-upgrade is for a database on PostgreSQL, which several servers share.',
    );
  }
  const { finishUpgradeOfPostgres } = await import('@parley/postgres');
  const release = parleyVersion();
  const { others, done } = await finishUpgradeOfPostgres(database.url, release);
  if (others.length > 0) {
    const list = others.map((node) => `${node.name} (release ${node.release}, ${node.age} s ago)`);
    throw new StartupError(`Servers of another release than ${release} are running: ${list.join('; ')}.`);
  }
  return {
    lines: [
      `The upgrade to ${release} is finished; servers of older releases are refused.`,
      ...(done.length > 0 ? [`Applied: ${done.join(', ')}.`] : []),
    ],
    data: { release, done },
  };
}

export const CLUSTER_COMMANDS: readonly Command[] = [
  {
    name: 'cluster finish-upgrade',
    help: 'ends an upgrade of several servers once all of them have this release',
    details: [
      'Until then, servers of the former release can be started again. The command runs the steps of the schema that they would',
      'not survive. It refuses while a server of another release is running, or has been killed within the last minute.',
    ].join('\n'),
    examples: ['parley cluster finish-upgrade'],
    run: finishUpgrade,
  },
];
