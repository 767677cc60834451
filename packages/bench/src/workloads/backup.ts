import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ApiUser } from '../harness/api.js';
import { median } from '../harness/interleave.js';
import { SERVE_ENVIRONMENT, SERVE_SCRIPT } from '../harness/parley-server.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { largeArchive } from '../worlds/worlds.js';

const SENDS_PER_SECOND = 200;
const CONNECTIONS = 64;
const WINDOW_SECONDS = 5;
const WINDOWS_WITHOUT = 6;

/**
 * How long senders wait while the whole database is backed up: in windows of some seconds, from the beginning of the backup to its
 * end, and in as many after it.
 */
export const backup: Workload = {
  name: 'backup',
  async run(lab) {
    const { database, contents } = await lab.copyOf(largeArchive);
    const parley = await lab.serve(database);
    const author = await ApiUser.signIn(parley, contents.reader.email);
    const form = { type: 'stream', to: String(contents.channelIds[1]), topic: 'now', content: contentOf(1) };
    const requests = [author.text({ method: 'POST', path: '/api/v1/messages', form })];
    const load = lab.load();
    const until = { seconds: lab.size(WINDOW_SECONDS, 0.2) };
    const p99 = async () =>
      (await load.run({ port: parley.port, requests, inFlight: CONNECTIONS, perSecond: SENDS_PER_SECOND, until }))
        .p99Ms;

    await p99();
    const target = `${database}.backup`;
    const making = startBackup(database, target);
    const startedAt = performance.now();
    const during = [await p99()];
    while (making.exitCode === null) during.push(await p99());
    const seconds = (performance.now() - startedAt) / 1000;
    if (making.exitCode !== 0) throw new Error(`The backup failed: ${await text(making.stderr!)}`);
    rmSync(target);
    const without: number[] = [];
    for (let window = 0; window < lab.size(WINDOWS_WITHOUT, 1); window++) without.push(await p99());
    return [
      {
        label: `p99 of ${SENDS_PER_SECOND} sends/s while ${formatNumber(contents.messages)} messages are backed up (${formatNumber(seconds)} s) ÷ without`,
        ours: `${formatNumber(median(during))} ms`,
        limit: `${formatNumber(median(without))} ms`,
        value: median(during) / median(without),
        goal: { atMost: 2 },
      },
    ];
  },
};

function startBackup(database: string, target: string): ChildProcess {
  const args = [fileURLToPath(SERVE_SCRIPT), 'backup', target, `--database=sqlite:${database}`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...SERVE_ENVIRONMENT },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  void once(child, 'exit');
  return child;
}
