import { type JobHandler, JobRunner } from '@parley/domain/kernel';
import { until } from '@parley/testkit';
import type { TestServer } from './test-server.js';

/**
 * Runs jobs of a kind until none is due by the server's clock.
 * @throws the error of the first failed job
 */
export async function runJobs(server: TestServer, handler: JobHandler): Promise<void> {
  if (server.worksInBackground) throw new Error('The server does its jobs itself');
  const failures: unknown[] = [];
  const { unitOfWork: uow } = server.parley.ports;
  const report = (_: string, { err }: Readonly<Record<string, unknown>>) => void failures.push(err);
  const runner = new JobRunner(handler, { uow, clock: server.clock, report });
  const selection = { kind: handler.kind.name, maxFormat: handler.kind.format };
  const nextDueAt = () => uow.readAcross(({ jobs }) => jobs.nextDueAt(selection));
  for (let next = await nextDueAt(); next !== null && next <= server.clock.now(); next = await nextDueAt()) {
    await runner.run();
    await runner.settle();
  }
  if (failures.length > 0) throw failures[0];
}

/** Returns at most ten jobs of a kind that are due within the given number of seconds. */
export const jobsWithin = (server: TestServer, kind: string, seconds: number) =>
  server.storage.uow.readAcross(({ jobs }) => jobs.listDue({ kind, maxFormat: 1 }, server.clock.now() + seconds, 10));

/** Waits until the given number of failed jobs have been postponed, by less than the lease of a job. */
export const postponed = (server: TestServer, kind: string, count = 1): Promise<void> =>
  until(async () => {
    // A single read, because a job claimed between two reads would look like a postponed job.
    const jobs = await jobsWithin(server, kind, 30);
    return jobs.filter(({ dueAt }) => dueAt > server.clock.now()).length >= count;
  });
