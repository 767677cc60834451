import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DownloadCall, UploadCall } from '../children/file-client.js';
import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { team } from '../worlds/worlds.js';

const MIB = 1024 * 1024;
/** Concurrent user requests during the transfer. */
const IN_FLIGHT = 4;

/** Transfers of large files and their effect on concurrent senders. */
export const files: Workload = {
  name: 'files',
  async run(lab) {
    const { database, contents } = await lab.copyOf(team);
    const parley = await lab.serve(database, ['--max-upload', '2048']);
    const [author] = await ApiUser.signInAll(parley, [contents.people[0]!]);
    const { authorization } = author!;
    const client = lab.start('file-client', { seat: 'client' });
    const size = lab.size(1024, 8) * MIB;
    const large: UploadCall = { port: parley.port, authorization, bytes: size };

    // Excludes the fixed cost of handling any file.
    const small = await client.call<string>('upload', { ...large, bytes: 2 * MIB });
    await client.call('download', { port: parley.port, authorization, path: small } satisfies DownloadCall);
    await parley.watch();
    const path = await client.call<string>('upload', large);
    const growthUp = (await parley.usage()).growth;
    await parley.watch();
    const ofParley: DownloadCall = { port: parley.port, authorization, path };
    await client.call('download', ofParley);
    const growthDown = (await parley.usage()).growth;

    const bare = lab.start('bare-files', { seat: 'server' });
    const barePort = await bare.call<number>('listen', largestIn(join(dirname(database), 'files'), size));
    const rounds = await interleave(lab.size(5, 1), {
      parley: () => client.call<number>('download', ofParley),
      bare: () => client.call<number>('download', { ...ofParley, port: barePort }),
    });

    const requests = [author!.sends(contents.channelId, contentOf(1))];
    const load = lab.load();
    const until = { seconds: lab.size(3, 0.2) };
    const p99 = async () => (await load.run({ port: parley.port, requests, inFlight: IN_FLIGHT, until })).p99Ms;
    const whileGoing = async (what: 'downloadOn' | 'uploadOn', call: DownloadCall | UploadCall) => {
      await client.call(what, call);
      const value = await p99();
      await client.call('stop');
      return value;
    };
    const sends = await interleave(lab.rounds, {
      alone: p99,
      down: () => whileGoing('downloadOn', { ...ofParley, path: small }),
      up: () => whileGoing('uploadOn', { ...large, bytes: 20 * MIB }),
    });
    const rate = (values: readonly number[]) => `${formatNumber(median(values) / MIB)} MiB/s`;
    const ms = (values: readonly number[]) => `${formatNumber(median(values))} ms`;
    const whole = `${formatNumber(size / MIB)} MiB`;
    return [
      {
        label: `memory added by one file of ${whole}, upload; for comparison, download`,
        ours: `${formatNumber(growthUp / MIB)} MiB`,
        limit: `${formatNumber(growthDown / MIB)} MiB`,
        value: Math.max(growthUp, growthDown, 1) / MIB,
        goal: { atMost: 40, unit: 'MiB' },
      },
      {
        label: `one file of ${whole} down ÷ a node:http server that pipes it`,
        ours: rate(rounds.parley),
        limit: rate(rounds.bare),
        value: medianRatio(rounds.parley, rounds.bare),
        goal: { atLeast: 0.8 },
      },
      {
        label: `sends, ${IN_FLIGHT} in flight, p99, while files are downloaded sequentially ÷ without downloads`,
        ours: ms(sends.down),
        limit: ms(sends.alone),
        value: medianRatio(sends.down, sends.alone),
        goal: { atMost: 2 },
      },
      {
        label: `sends, ${IN_FLIGHT} in flight, p99, while files are uploaded sequentially ÷ without uploads`,
        ours: ms(sends.up),
        limit: ms(sends.alone),
        value: medianRatio(sends.up, sends.alone),
        goal: { atMost: 2 },
      },
    ];
  },
};

/** Path of the only stored file of this size. */
function largestIn(folder: string, size: number): string {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .find((path) => statSync(path).size === size);
  if (found === undefined) throw new Error('The server keeps its files elsewhere');
  return found;
}
