import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUser } from '../harness/api.js';
import { type CommandUsage, runCommand } from '../harness/command.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { largeArchive, smallArchive } from '../worlds/worlds.js';
import { waitMeanwhile } from './windows.js';

const MEGABYTE = 1024 * 1024;
const WINDOW_SECONDS = 5;
/** The server's export runs in shorter slices. */
const SHORT_WINDOW_SECONDS = 1;
const LOOK_EVERY_MS = 50;

/** Cost of writing an organization's archive, by the operator and by the server, and of reading it. */
export const exporting: Workload = {
  name: 'export',
  async run(lab) {
    return [...(await byOperator(lab)), await byServer(lab)];
  },
};

async function byOperator(lab: Lab): Promise<readonly Figure[]> {
  const { database, contents } = await lab.copyOf(largeArchive);
  const messages = formatNumber(contents.messages);
  const parley = await lab.serve(database);
  const author = await ApiUser.signIn(parley, contents.reader.email);
  const archive = `${database}.tar.gz`;
  let exported: CommandUsage | undefined;
  const label = (seconds: string) => `${messages} messages are exported by a separate process (${seconds} s)`;
  const waited = await waitMeanwhile(lab, parley, author, contents, WINDOW_SECONDS, label, async () => {
    exported = await runCommand(['export', archive, '--realm=bench', `--database=sqlite:${database}`]);
  });
  await parley.stop();
  const imported = await runCommand(['import', archive, `--database=sqlite:${lab.newFile()}`, '--new-database']);
  rmSync(archive);
  return [
    waited,
    memory(`memory for exporting ${messages} messages`, exported!, { atMost: 300, unit: 'MB' }),
    {
      label: `importing ${messages} messages, a second of CPU`,
      ours: `${formatNumber(imported.cpuMs / 1000)} s`,
      limit: '',
      value: contents.messages / (imported.cpuMs / 1000),
      goal: { atLeast: 20_000, unit: '/s' },
    },
    memory(`memory for importing ${messages} messages`, imported, null),
  ];
}

function memory(label: string, { ownPeak }: CommandUsage, goal: Figure['goal']): Figure {
  const megabytes = ownPeak / MEGABYTE;
  return { label, ours: `${formatNumber(megabytes)} MB`, limit: '', value: megabytes, goal };
}

async function byServer(lab: Lab): Promise<Figure> {
  const { database, contents } = await lab.copyOf(smallArchive);
  const parley = await lab.serve(database);
  const owner = await ApiUser.signIn(parley, contents.owner.email);
  const author = await ApiUser.signIn(parley, contents.reader.email);
  const label = (seconds: string) => `the server exports ${formatNumber(contents.messages)} messages (${seconds} s)`;
  return waitMeanwhile(lab, parley, author, contents, SHORT_WINDOW_SECONDS, label, async () => {
    await owner.post('/api/v1/export/realm', {});
    for (;;) {
      const { exports } = (await owner.get('/api/v1/export/realm')) as { exports: readonly Export[] };
      if (exports[0]!.failed_timestamp !== null) throw new Error('The export failed');
      if (!exports[0]!.pending) return;
      await delay(LOOK_EVERY_MS);
    }
  });
}

interface Export {
  readonly pending: boolean;
  readonly failed_timestamp: number | null;
}
