import type { UnitOfWork } from '@parley/domain/kernel';

/** A commit is durable only after other units have run, as where several are committed together. */
export const committingLate = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: async (work, options) => {
    const result = await uow.write(work, options);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return result;
  },
});

/** Every writing unit runs to its end, and its commit fails. */
export const failingToCommit = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: (work, options) =>
    uow.write(async (tx) => {
      await work(tx);
      throw new Error('The disk is full');
    }, options),
});
