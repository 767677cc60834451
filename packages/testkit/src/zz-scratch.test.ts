import { mkdtempSync, rmSync } from 'node:fs';
import { openSqliteStorage } from '../../sqlite/src/index.js';
import { MemoryStorage } from './memory-storage.js';
import { agreeOnRandomHistories } from './random-histories.js';

const memory = (clock: any) => ({ uow: new MemoryStorage(clock).uow, close: async () => {} });
const sqlite = (clock: any) => {
  const d = mkdtempSync('/dev/shm/ps-');
  const { uow, close } = openSqliteStorage({ path: d + '/p.db', clock });
  return {
    uow,
    close: async () => {
      await close();
      rmSync(d, { recursive: true });
    },
  };
};
it('agrees', async () => {
  const t = Date.now();
  let m = 'ok';
  try {
    await agreeOnRandomHistories(memory, sqlite as any, { runs: Number(process.env.RUNS ?? 100), seed: process.env.SEED ? Number(process.env.SEED) : undefined });
  } catch (e: any) {
    m = e.message;
  }
  console.log(m, Date.now() - t);
}, 600000);
