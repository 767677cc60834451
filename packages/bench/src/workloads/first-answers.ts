import { setTimeout as sleep } from 'node:timers/promises';
import { ApiUser } from '../harness/api.js';
import { median } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import type { Method } from '../harness/requests.js';
import type { Lab } from '../lab.js';

export interface ListRequest {
  readonly method: Method;
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
}

export interface FirstAnswers {
  /** As soon as the server answers anything, in milliseconds of its CPU. */
  readonly atOnce: number;
  /** Once it has warmed up. */
  readonly warmedUp: number;
}

/** What the first answer after a start takes, in an organization whose clients were there before. */
export async function firstAnswers(
  lab: Lab,
  database: string,
  request: ListRequest,
  { client, caller }: { readonly client: string; readonly caller: string },
): Promise<FirstAnswers> {
  const before = await lab.serve(database);
  await (await ApiUser.signIn(before, client)).post('/api/v1/register', { fetch_event_types: '["message"]' });
  await before.stop();
  const load = lab.load();
  const first = async (wait: (parley: ParleyServer) => Promise<void>): Promise<number> => {
    const parley = await lab.serve(database);
    const user = await ApiUser.signIn(parley, caller);
    await wait(parley);
    const ms = await cpuOf(parley, () =>
      load.run({ port: parley.port, requests: [user.text(request)], inFlight: 1, until: { answers: 1 } }),
    );
    await parley.stop();
    return ms;
  };
  const [atOnce, warmedUp]: [number[], number[]] = [[], []];
  for (let round = 0; round < lab.size(5, 1); round++) {
    atOnce.push(await first(async () => {}));
    warmedUp.push(await first((parley) => untilIdle(parley, lab.size(LOOK_MS, 20))));
  }
  return { atOnce: median(atOnce), warmedUp: median(warmedUp) };
}

/** In milliseconds, of all its threads. */
export async function cpuOf(parley: ParleyServer, work: () => Promise<unknown>): Promise<number> {
  const before = await parley.usage();
  await work();
  return (await parley.usage()).cpuMs - before.cpuMs;
}

const LOOK_MS = 500;
/** What an idle server uses meanwhile. */
const IDLE_CPU_MS = 5;

async function untilIdle(parley: ParleyServer, lookMs: number): Promise<void> {
  while ((await cpuOf(parley, () => sleep(lookMs))) > IDLE_CPU_MS);
}
