import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreeOnReadStates } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { openNewStorage } from '../testing/new-storage.js';

describe('read state in SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-history-'));
  let files = 0;
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each([
    [25, 50],
    [5, 200],
  ])('equals a model with one row per recipient (%i histories of up to %i steps)', async (runs, maxSteps) => {
    await agreeOnReadStates(
      (clock) => ({ uow: new MemoryStorage(clock).uow, close: async () => {} }),
      (clock) => openNewStorage({ path: join(directory, `${++files}.db`), clock }),
      { runs, maxSteps },
    );
  });
});
