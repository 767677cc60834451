import type { Repositories, Transaction, UnitOfWork } from '@parley/domain/kernel';

type Work<Ports, T> = (ports: Ports) => Promise<T>;

interface UnitInterceptors {
  readonly read?: <T>(work: Work<Repositories, T>, run: (work: Work<Repositories, T>) => Promise<T>) => Promise<T>;
  readonly write?: <T>(work: Work<Transaction, T>, run: (work: Work<Transaction, T>) => Promise<T>) => Promise<T>;
}

/**
 * Wraps a unit of work so that its units, within one organization or across several, pass through `read` and `write`.
 */
export function intercepting(
  uow: UnitOfWork,
  { read = (work, run) => run(work), write = (work, run) => run(work) }: UnitInterceptors,
): UnitOfWork {
  return {
    read: (realmId, work) => read(work, (each) => uow.read(realmId, each)),
    readAcross: (work) => read(work, (each) => uow.readAcross(each)),
    write: (realmId, work, options) => write(work, (each) => uow.write(realmId, each, options)),
    writeAcross: (work, options) => write(work, (each) => uow.writeAcross(each, options)),
  };
}

/** Delays commits until other transactions have run, as with group commits. */
export const committingLate = (uow: UnitOfWork): UnitOfWork =>
  intercepting(uow, {
    write: async (work, run) => {
      const result = await run(work);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return result;
    },
  });

/** Runs every write to its end, then fails its commit. */
export const failingToCommit = (uow: UnitOfWork): UnitOfWork =>
  intercepting(uow, {
    write: (work, run) =>
      run(async (tx) => {
        await work(tx);
        throw new Error('The disk is full');
      }),
  });
