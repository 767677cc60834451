import type { TestServer } from './test-server.js';

/** Waits for what the server does in the background. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('It never came to be so');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Jobs of a kind that are due within so many seconds, at most ten. */
export const jobsWithin = (server: TestServer, kind: string, seconds: number) =>
  server.storage.uow.readAcross(({ jobs }) => jobs.listDue({ kind, maxFormat: 1 }, server.clock.now() + seconds, 10));

/** Waits until so many failed jobs have been postponed, by less than the lease of a job. */
export const postponed = (server: TestServer, kind: string, count = 1): Promise<void> =>
  until(async () => {
    // One read, since a job that is claimed between two would look like a postponed one.
    const jobs = await jobsWithin(server, kind, 30);
    return jobs.filter(({ dueAt }) => dueAt > server.clock.now()).length >= count;
  });
