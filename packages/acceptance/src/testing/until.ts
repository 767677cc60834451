import type { TestServer } from './test-server.js';

/** Waits for what the server does in the background. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('It never came to be so');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Number of jobs of a kind that are due within so many seconds. */
export async function dueJobs(server: TestServer, kind: string, withinSeconds = 0): Promise<number> {
  const at = server.clock.now() + withinSeconds;
  return (await server.storage.uow.readAcross(({ jobs }) => jobs.listDue({ kind, maxFormat: 1 }, at, 10))).length;
}

/** Waits until so many failed jobs have been postponed, by less than the lease of a job. */
export const postponed = (server: TestServer, kind: string, count = 1): Promise<void> =>
  until(async () => (await dueJobs(server, kind, 30)) - (await dueJobs(server, kind)) >= count);
