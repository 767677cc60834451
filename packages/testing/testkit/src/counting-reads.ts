import type { UnitOfWork } from '@parley/domain/kernel';
import { intercepting } from './troubled-units.js';

/** Wraps a unit of work and counts its read-only transactions. */
export function countingReads(uow: UnitOfWork): { readonly uow: UnitOfWork; readonly count: () => number } {
  let reads = 0;
  return {
    uow: intercepting(uow, {
      read: (work, run) => {
        reads++;
        return run(work);
      },
    }),
    count: () => reads,
  };
}
