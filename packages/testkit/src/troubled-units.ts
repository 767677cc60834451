import type { UnitOfWork } from '@parley/domain';

/** As after a serialization failure: every writing unit is rolled back once, and runs again. */
export const runningTwice = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: async (work) => {
    const rolledBack = new Error('Serialization failure');
    await uow
      .write(async (tx) => {
        await work(tx);
        throw rolledBack;
      })
      .catch((error) => {
        if (error !== rolledBack) throw error;
      });
    return uow.write(work);
  },
});

/** A commit is durable only after other units have run, as where several are committed together. */
export const committingLate = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: async (work) => {
    const result = await uow.write(work);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return result;
  },
});

/** Every writing unit runs to its end, and its commit fails. */
export const failingToCommit = (uow: UnitOfWork): UnitOfWork => ({
  read: (work) => uow.read(work),
  write: (work) =>
    uow.write(async (tx) => {
      await work(tx);
      throw new Error('The disk is full');
    }),
});
