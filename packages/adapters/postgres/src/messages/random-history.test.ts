import type { Clock } from '@parley/domain/kernel';
import { agreeOnRandomHistories, agreeOnReadStates } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { openPostgresStorage } from '../database.js';
import { createDatabase } from '../testing/databases.js';

function openMemory(clock: Clock) {
  const storage = new MemoryStorage(clock);
  storage.keepsUsedIds = true;
  return { uow: storage.uow, close: async () => {} };
}

async function openPostgres(clock: Clock) {
  const { url, drop } = await createDatabase();
  const { uow, close } = await openPostgresStorage({ url, clock });
  return {
    uow,
    async close() {
      await close();
      await drop();
    },
  };
}

describe('PostgreSQL message storage', () => {
  it('finds the messages that match a random predicate, like the in-memory storage', async () => {
    await agreeOnRandomHistories(openMemory, openPostgres, { runs: Number(process.env.NARROW_LAW_RUNS ?? 25) });
  });

  it.each([
    [25, 50],
    [5, 200],
  ])('equals a model with one row per recipient (%i histories of up to %i steps)', async (runs, maxSteps) => {
    await agreeOnReadStates(openMemory, openPostgres, { runs, maxSteps });
  });
});
