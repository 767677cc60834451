import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { intercepting } from '@parley/testkit';

/** Storage of a test server. */
export interface TestStorage {
  readonly uow: UnitOfWork;
  /** Number of successful writes. */
  readonly commits: number;
  /** Removes its data outside the process. */
  close(): Promise<void>;
  /** Content of the closed storage, for initializing others. */
  contents(): Buffer;
  /** Opens the same database again, as another process does. */
  openAgain(): TestStorage;
}

/** Opens a SQLite file in a temporary folder, empty or with given content. */
export function openTestStorage(clock: Clock, contents?: Buffer): TestStorage {
  const path = join(mkdtempSync(join(tmpdir(), 'parley-http-')), 'parley.db');
  if (contents) writeFileSync(path, contents);
  return openAt(path, clock, true);
}

function openAt(path: string, clock: Clock, isOwner: boolean): TestStorage {
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
      if (!isOwner) return;
      kept = readFileSync(path);
      rmSync(dirname(path), { recursive: true });
    },
    contents: () => kept,
    openAgain: () => openAt(path, clock, false),
  };
}
