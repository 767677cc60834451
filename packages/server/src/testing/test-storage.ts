import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, UnitOfWork } from '@parley/domain/shared';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { MemoryStorage } from '@parley/testkit/memory';

/** What a test server keeps its data in. */
export interface TestStorage {
  readonly uow: UnitOfWork;
  /** How many writes succeeded. */
  readonly commits: number;
  /** Removes what it kept outside the process. */
  close(): Promise<void>;
}

declare global {
  /** Set by `jest.config.ts` for each of its projects; absent: memory. */
  var PARLEY_TEST_STORAGE: keyof typeof STORAGES | undefined;
}

const STORAGES = { memory: openMemory, sqlite: openSqlite };

/** An empty storage of the kind that the jest project asks for. */
export const openTestStorage = (clock: Clock): TestStorage =>
  STORAGES[globalThis.PARLEY_TEST_STORAGE ?? 'memory'](clock);

function openMemory(clock: Clock): TestStorage {
  return Object.assign(new MemoryStorage(clock, htmlMessages), { close: async () => {} });
}

/** A file in a folder of its own. */
function openSqlite(clock: Clock): TestStorage {
  const directory = mkdtempSync(join(tmpdir(), 'parley-http-'));
  const { uow, close } = openSqliteStorage({ path: join(directory, 'parley.db'), clock, words: htmlMessages });
  let commits = 0;
  return {
    uow: {
      read: (work) => uow.read(work),
      async write(work) {
        const result = await uow.write(work);
        commits++;
        return result;
      },
    },
    get commits() {
      return commits;
    },
    async close() {
      await close();
      rmSync(directory, { recursive: true });
    },
  };
}
