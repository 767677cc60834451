import type { UnitOfWork } from '@parley/domain/kernel';

/** Delays commits until other transactions have run, as with group commits. */
export const committingLate = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: async (work, options) => {
    const result = await uow.write(work, options);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return result;
  },
});

/** Runs every write to its end and then fails its commit. */
export const failingToCommit = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: (work, options) =>
    uow.write(async (tx) => {
      await work(tx);
      throw new Error('The disk is full');
    }, options),
});
