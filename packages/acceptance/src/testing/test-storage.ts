import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { MemoryStorage } from '@parley/testkit/memory';

/** What a storage kept, for others of the same kind to begin with. */
export type StorageContents = Buffer | MemoryStorage['contents'];

/** What a test server keeps its data in. */
export interface TestStorage {
  readonly uow: UnitOfWork;
  /** How many writes succeeded. */
  readonly commits: number;
  /** Removes what it kept outside the process. */
  close(): Promise<void>;
  /** What it kept. Of one that is closed. */
  contents(): StorageContents;
}

declare global {
  /** Set by `jest.config.ts` for each of its projects; absent: memory. */
  var PARLEY_TEST_STORAGE: keyof typeof STORAGES | undefined;
}

const STORAGES = { memory: openMemory, sqlite: openSqlite };

const storageKind = globalThis.PARLEY_TEST_STORAGE ?? 'memory';

/** Where the storage does not matter, or costs much, the other one gets a sample of the cases. */
export const isStorageMemory = storageKind === 'memory';

/** A storage of the kind that the jest project asks for; empty, or with what another one kept. */
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

/** A file in a folder of its own. */
function openSqlite(clock: Clock, contents?: StorageContents): TestStorage {
  const directory = mkdtempSync(join(tmpdir(), 'parley-http-'));
  const path = join(directory, 'parley.db');
  if (contents) writeFileSync(path, contents as Buffer);
  const { uow, close } = openSqliteStorage({ path, clock, words: htmlMessages });
  let commits = 0;
  let kept: Buffer;
  return {
    uow: {
      read: (work) => uow.read(work),
      async write(work, options) {
        const result = await uow.write(work, options);
        commits++;
        return result;
      },
    },
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
