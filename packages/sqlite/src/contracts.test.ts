import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageContracts } from '../../testkit/src/contracts/all-contracts.js';
import { openSqliteStorage } from './index.js';

describe('SQLite', () => {
  storageContracts((clock) => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
    const { uow, close } = openSqliteStorage({ path: join(directory, 'parley.db'), clock });
    return {
      uow,
      refusesYielding: true,
      async close() {
        await close();
        rmSync(directory, { recursive: true });
      },
    };
  });
});
