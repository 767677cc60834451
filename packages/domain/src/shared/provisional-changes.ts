import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** To be done if the unit that changed something in memory is not committed. */
export type OnRollback = (undo: () => void) => void;

/**
 * A writing unit that counts something in memory: units of the same batch have to see what the others counted, so that it is
 * counted inside, and taken back if the unit fails or runs again. Nothing else in memory changes before the commit.
 */
export async function writeProvisionally<T>(
  uow: UnitOfWork,
  work: (tx: Transaction, onRollback: OnRollback) => Promise<T>,
): Promise<T> {
  const undoing: (() => void)[] = [];
  const undoAll = () => {
    for (const undo of undoing.splice(0).reverse()) undo();
  };
  try {
    return await uow.write((tx) => {
      undoAll();
      return work(tx, (undo) => void undoing.push(undo));
    });
  } catch (error) {
    undoAll();
    throw error;
  }
}
