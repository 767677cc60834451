import type { UnitOfWork } from '@parley/domain/kernel';

/** Wraps a unit of work and counts its read-only transactions. */
export function countingReads(uow: UnitOfWork): { readonly uow: UnitOfWork; readonly count: () => number } {
  let reads = 0;
  return {
    uow: {
      read: (work) => {
        reads++;
        return uow.read(work);
      },
      write: (work, options) => uow.write(work, options),
    },
    count: () => reads,
  };
}
