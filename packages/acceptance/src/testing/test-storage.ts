import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { intercepting } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';

/** Content of a storage, for initializing others of the same kind. */
export type StorageContents = Buffer | MemoryStorage['contents'];

/** Storage of a test server. */
export interface TestStorage {
  readonly uow: UnitOfWork;
  /** Number of successful writes. */
  readonly commits: number;
  /** Removes its data outside the process. */
  close(): Promise<void>;
  /** Content of a closed storage. */
  contents(): StorageContents;
}

declare global {
  /** Set by `jest.config.ts` per project; absent means memory. */
  var PARLEY_TEST_STORAGE: keyof typeof STORAGES | undefined;
}

const STORAGES = { memory: openMemory, sqlite: openSqlite };

const storageKind = globalThis.PARLEY_TEST_STORAGE ?? 'memory';

/**
 * True on memory storage. Expensive or storage-independent cases run fully on one storage and as a sample on the
 * other.
 */
export const isStorageMemory = storageKind === 'memory';

/** Opens a storage of the jest project's kind, empty or with given content. */
export const openTestStorage = (clock: Clock, contents?: StorageContents): TestStorage =>
  STORAGES[storageKind](clock, contents);

function openMemory(clock: Clock, contents: StorageContents = {}): TestStorage {
  const storage = new MemoryStorage(clock, htmlMessages, contents as MemoryStorage['contents']);
  return {
    uow: storage.uow,
    get commits() {
      return storage.commits;
    },
    close: async () => {},
    contents: () => storage.contents,
  };
}

/** SQLite file in a temporary folder. */
function openSqlite(clock: Clock, contents?: StorageContents): TestStorage {
  const directory = mkdtempSync(join(tmpdir(), 'parley-http-'));
  const path = join(directory, 'parley.db');
  if (contents) writeFileSync(path, contents as Buffer);
  const { uow, close } = openSqliteStorage({ path, clock, words: htmlMessages });
  let commits = 0;
  let kept: Buffer;
  return {
    uow: intercepting(uow, {
      write: async (work, run) => {
        const result = await run(work);
        commits++;
        return result;
      },
    }),
    get commits() {
      return commits;
    },
    async close() {
      await close();
      kept = readFileSync(path);
      rmSync(directory, { recursive: true });
    },
    contents: () => kept,
  };
}
