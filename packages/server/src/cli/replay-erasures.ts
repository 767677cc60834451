import { setTimeout as sleep } from 'node:timers/promises';
import { type ErasureRecord, type JobHandler, JobRunner, type ReportProblem } from '@parley/domain/kernel';
import { DeactivateBots, ErasePerson, ReplayErasures, type ReplayedErasures } from '@parley/domain/membership';
import { RemoveQuotesFromDrafts, RemoveTextFromReminders } from '@parley/domain/writing';
import type { ComposedParley } from '../composition/parley.js';
import { StartupError } from '../kernel/startup-error.js';

const PAUSE_MS = 10;
const WAIT_SECONDS = 60;

/** Erases people again in a restored database that no server uses yet. @throws StartupError if an erasure cannot be completed */
export async function replayErasures(
  parley: ComposedParley,
  erasures: readonly ErasureRecord[],
): Promise<ReplayedErasures> {
  const replayed = await parley.useCase(ReplayErasures).execute(erasures);
  const { unitOfWork: uow, clock } = parley.ports;
  const failures: unknown[] = [];
  const report: ReportProblem = (_, { err }) => void failures.push(err);
  const handlers: readonly JobHandler[] = [
    parley.useCase(DeactivateBots),
    parley.useCase(RemoveTextFromReminders),
    parley.useCase(RemoveQuotesFromDrafts),
    parley.useCase(ErasePerson),
  ];
  const runners = handlers.map((handler) => new JobRunner(handler, { uow, clock, report }));
  // Erasures wait a few seconds for reminders. Those that meet a hold continue on the server.
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const runner of runners) {
      const dueAt = await runner.nextDueAt();
      if (dueAt === null || dueAt > clock.now() + WAIT_SECONDS) continue;
      isDone = false;
      await runner.run();
      await runner.settle();
    }
    if (failures.length > 0) {
      throw new StartupError(`People cannot be erased again: ${(failures[0] as Error).message}`);
    }
    if (!isDone) await sleep(PAUSE_MS);
  }
  return replayed;
}
