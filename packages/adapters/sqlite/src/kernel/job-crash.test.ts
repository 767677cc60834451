import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeJob } from '@parley/domain/kernel';
import { aChannel, aUser, type BuiltScript, buildScript, createFixtureOn } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage } from '../index.js';
import { MAIL, POST } from './job-crash.kinds.js';

const JOBS = 200;
const MORE_JOBS = 20;
const SUBSCRIBERS = 1;
const MIN_KILLS = 10;

const clock = { now: () => Math.floor(Date.now() / 1000), nowMs: Date.now };

let directory: string;
let child: BuiltScript;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-job-crash-'));
  child = buildScript(join(__dirname, 'job-crash.child.ts'), ['better-sqlite3']);
});
afterAll(() => {
  child.remove();
  rmSync(directory, { recursive: true });
});

it('executes each job once despite kills and several processes on one database', async () => {
  const path = join(directory, 'parley.db');
  const storage = openSqliteStorage({ path, clock });
  const { realm } = await createFixtureOn(storage.uow, clock, aUser({ name: 'sender' }), aChannel({ name: 'general' }));
  const expected: string[] = [];
  const schedule = (round: number, jobs: number) =>
    storage.uow.write(realm.id, async (tx) => {
      for (const kind of [POST, MAIL]) {
        for (let i = 0; i < jobs; i++) {
          const payload = { name: `${kind.name} ${round}.${i}`, subscribers: SUBSCRIBERS };
          await tx.jobs.schedule(encodeJob(kind, { realmId: realm.id, dueAt: clock.now() - 1, payload }));
          for (let follower = 0; follower <= SUBSCRIBERS; follower++)
            expected.push(payload.name + '+'.repeat(follower));
        }
      }
    });
  await schedule(0, JOBS);

  const left = (): number => {
    const database = new Sqlite(path, { readonly: true });
    const count = database.prepare<[], number>('SELECT count(*) FROM job').pluck().get()!;
    database.close();
    return count;
  };
  let kills = 0;
  const workUntilKilled = async (ms: number) => {
    const worker = child.start(path);
    await once(worker.stdout, 'data');
    await sleep(ms);
    worker.kill('SIGKILL');
    await once(worker, 'close');
    kills++;
  };
  for (let round = 0; left() > 0 || kills < MIN_KILLS; round++) {
    // Replenishes the jobs regardless of how many the children complete before they are killed.
    if (left() === 0) await schedule(round, MORE_JOBS);
    await Promise.all([workUntilKilled((round * 17) % 100), workUntilKilled((round * 29) % 100)]);
  }

  await storage.close();
  const database = new Sqlite(path, { readonly: true });
  const contents = database.prepare<[], string>('SELECT content FROM message').pluck().all();
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  database.close();
  expect(contents.sort()).toEqual(expected.sort());
});
