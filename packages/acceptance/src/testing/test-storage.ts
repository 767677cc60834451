import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
}

/** Opens a SQLite file in a temporary folder, empty or with given content. */
export function openTestStorage(clock: Clock, contents?: Buffer): TestStorage {
  const directory = mkdtempSync(join(tmpdir(), 'parley-http-'));
  const path = join(directory, 'parley.db');
  if (contents) writeFileSync(path, contents);
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
