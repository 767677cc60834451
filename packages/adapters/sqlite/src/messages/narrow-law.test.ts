import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agreeOnRandomHistories } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { openNewStorage } from '../testing/new-storage.js';

describe('SQL of conditions', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-narrows-'));
  let files = 0;
  afterAll(() => rmSync(directory, { recursive: true }));

  it('finds the messages that match the predicate, like the in-memory storage', async () => {
    await agreeOnRandomHistories(
      (clock) => ({ uow: new MemoryStorage(clock).uow, close: async () => {} }),
      (clock) => openNewStorage({ path: join(directory, `${++files}.db`), clock }),
      { runs: Number(process.env.NARROW_LAW_RUNS ?? 25) },
    );
  });
});
