import type { ApiUser } from '../harness/api.js';
import { median } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import type { Archive } from '../worlds/worlds.js';

export const SENDS_PER_SECOND = 200;
const CONNECTIONS = 64;
const WINDOWS_WITHOUT = 6;

/**
 * Latency of sends during a long operation, in windows of some seconds, and for as many windows afterwards. `label`
 * receives the operation's duration in seconds.
 */
export async function waitMeanwhile(
  lab: Lab,
  parley: ParleyServer,
  author: ApiUser,
  { channelIds }: Pick<Archive, 'channelIds'>,
  windowSeconds: number,
  label: (seconds: string) => string,
  work: () => Promise<unknown>,
): Promise<Figure> {
  const requests = [author.sends(channelIds[1]!, contentOf(1), 'now')];
  const load = lab.load();
  const until = { seconds: lab.size(windowSeconds, 0.2) };
  const p99 = async () =>
    (await load.run({ port: parley.port, requests, inFlight: CONNECTIONS, perSecond: SENDS_PER_SECOND, until })).p99Ms;

  await p99();
  const startedAt = performance.now();
  let seconds: number | null = null;
  const working = work().finally(() => {
    seconds = (performance.now() - startedAt) / 1000;
  });
  working.catch(() => undefined);
  const during: number[] = [];
  do during.push(await p99());
  while (seconds === null);
  await working;
  const without: number[] = [];
  for (let window = 0; window < lab.size(WINDOWS_WITHOUT, 1); window++) without.push(await p99());
  return {
    label: `p99 of ${SENDS_PER_SECOND} sends/s while ${label(formatNumber(seconds))} ÷ without`,
    ours: `${formatNumber(median(during))} ms`,
    limit: `${formatNumber(median(without))} ms`,
    value: median(during) / median(without),
    goal: { atMost: 2 },
  };
}
