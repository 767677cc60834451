import { type JobHandler, JobRunner } from '@parley/domain/jobs';
import type { Letter } from '@parley/domain/mail';
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

/** Runs jobs until so many letters were sent, or for a while: the server's own worker may run them as well. Answers the letters that count. */
export async function lettersOf(
  server: TestServer,
  handler: JobHandler,
  count: number,
  sent: () => readonly Letter[] = () => server.mailer.letters,
): Promise<readonly Letter[]> {
  for (let round = 0; round < 200; round++) {
    await runJobs(server, handler);
    if (sent().length >= count) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return sent();
}
