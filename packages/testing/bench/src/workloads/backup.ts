import { rmSync } from 'node:fs';
import { ApiUser } from '../harness/api.js';
import { runCommand } from '../harness/command.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { largeArchive } from '../worlds/worlds.js';
import { waitMeanwhile } from './windows.js';

const WINDOW_SECONDS = 5;

/** Latency of sends during a full backup. */
export const backup: Workload = {
  name: 'backup',
  async run(lab) {
    const { database, contents } = await lab.copyOf(largeArchive);
    const parley = await lab.serve(database);
    const author = await ApiUser.signIn(parley, contents.reader.email);
    const target = `${database}.backup`;
    const label = (seconds: string) => `${formatNumber(contents.messages)} messages are backed up (${seconds} s)`;
    const figure = await waitMeanwhile(lab, parley, author, contents, WINDOW_SECONDS, label, () =>
      runCommand(['backup', target, `--database=sqlite:${database}`]),
    );
    rmSync(target);
    return [figure];
  },
};
