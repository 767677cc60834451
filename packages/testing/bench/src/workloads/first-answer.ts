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

/** CPU milliseconds of the first response after a start. */
export async function firstAnswer(lab: Lab, database: string, request: ListRequest, email: string): Promise<number> {
  const load = lab.load();
  const rounds: number[] = [];
  for (let round = 0; round < lab.size(5, 1); round++) {
    const parley = await lab.serve(database);
    const user = await ApiUser.signIn(parley, email);
    rounds.push(
      await cpuOf(parley, () =>
        load.run({ port: parley.port, requests: [user.text(request)], inFlight: 1, until: { answers: 1 } }),
      ),
    );
    await parley.stop();
  }
  return median(rounds);
}

/** CPU milliseconds of all threads. */
export async function cpuOf(parley: ParleyServer, work: () => Promise<unknown>): Promise<number> {
  const before = await parley.usage();
  await work();
  return (await parley.usage()).cpuMs - before.cpuMs;
}
