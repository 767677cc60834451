import { type JobHandler, JobRunner } from '@parley/domain/jobs';
import type { TestServer } from './test-server.js';

/** Does the jobs of a kind that are due by the server's clock, as its worker would. Failures are thrown. */
export async function runJobs(server: TestServer, handler: JobHandler): Promise<void> {
  const failures: unknown[] = [];
  const { unitOfWork: uow } = server.parley.ports;
  const report = (_: string, { err }: Readonly<Record<string, unknown>>) => void failures.push(err);
  const runner = new JobRunner(handler, { uow, clock: server.clock, report });
  await runner.run();
  await runner.settle();
  if (failures.length > 0) throw failures[0];
}
