import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SeededRandomness } from '@parley/testkit';
import { ParleyProcess, runParley } from '../testing/parley-process.js';
import { TestOrganization } from '../testing/test-organization.js';
import { callApi } from './caller.js';
import { SEED, size } from './scale.js';

const MAIN = resolve(import.meta.dirname, '../../../../server/dist/bundle/main.js');
const BORDERS = size(8, 1000);
const POINTS = size(4, 250);
const LOSSES = size(2, 20);
jest.setTimeout(size(300_000, 3_600_000));
/** Installed by `.ci/run`. */
const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

describe(`database file with seed ${SEED}`, () => {
  let chance: SeededRandomness;
  let folder: string;
  beforeEach(() => {
    chance = new SeededRandomness(SEED);
    folder = mkdtempSync(join(tmpdir(), 'parley-killed-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const below = (limit: number) => Math.floor(chance.fraction() * limit);

  (canTrace ? it : it.skip)('is created by the next command after a kill at any system call', async () => {
    const create = (path: string) => ['realm', 'create', '--new-database', '', 'Elsinore', `--database=sqlite:${path}`];
    /** Creates a database under strace, which traces only the system calls for its files. */
    const traced = async (path: string, more: readonly string[]) => {
      const files = ['', '-journal', '-wal', '-shm'].flatMap((suffix) => ['-P', path + suffix]);
      const child = spawn('strace', ['-f', ...files, ...more, process.execPath, MAIN, ...create(path)], {
        stdio: 'ignore',
      });
      await once(child, 'close');
    };
    const log = join(folder, 'calls');
    await traced(join(folder, 'first', 'parley.db'), ['-o', log]);
    const points: { readonly name: string; readonly n: number }[] = [];
    const counts = new Map<string, number>();
    for (const [, name] of readFileSync(log, 'utf8').matchAll(/^\d+\s+(\w+)\(/gm)) {
      const n = (counts.get(name!) ?? 0) + 1;
      counts.set(name!, n);
      // Omits calls that change no file, which are numerous.
      if (!['fcntl', 'newfstatat', 'statx'].includes(name!)) points.push({ name: name!, n });
    }
    expect(counts.get('fsync')).toBeGreaterThan(3);
    expect(counts.get('unlink')).toBeGreaterThan(0);
    // Syncs and removals are the borders between the states that a crash can leave.
    const borders = points.filter(({ name }) => name === 'fsync' || name === 'unlink');
    while (borders.length > BORDERS) borders.splice(below(borders.length), 1);
    const chosen = new Set(borders);
    const limit = Math.min(chosen.size + POINTS, points.length);
    // Rare calls, which change file names and sizes, come first.
    const isRare = ({ name }: (typeof points)[number]) => counts.get(name)! < 60;
    while (chosen.size < limit) {
      const among = chance.fraction() < 0.7 ? points.filter(isRare) : points;
      chosen.add(among[below(among.length)]!);
    }
    for (const { name, n } of chosen) {
      const directory = join(folder, `${name}-${n}`);
      mkdirSync(directory);
      const path = join(directory, 'parley.db');
      await traced(path, ['-o', '/dev/null', '-e', `inject=${name}:signal=KILL:when=${n}`]);
      const again = await runParley(create(path));
      // If killed after its commit, the first command has created the organization.
      if (again.code !== 0) expect([name, n, again.err]).toEqual([name, n, expect.stringContaining('"Elsinore"')]);
      const { code, out, err } = await runParley(['realm', 'list', `--database=sqlite:${path}`]);
      expect([name, n, code, err, out.match(/Elsinore/g)?.length]).toEqual([name, n, 0, '', 1]);
      rmSync(directory, { recursive: true });
    }
  });

  it('is rejected without its write-ahead log, with an explanation', async () => {
    const organization = await TestOrganization.withOrganization();
    try {
      const hamlet = await organization.addPerson('Hamlet');
      for (let round = 0; round < LOSSES; round++) {
        const server = await organization.serve();
        const writes = 1 + below(20);
        for (let n = 0; n < writes; n++) {
          const fields = { type: 'direct', to: [hamlet.id], content: `message ${n}` };
          expect((await callApi(server.url, hamlet, 'POST', '/messages', fields)).status).toBe(200);
        }
        await server.kill();
        if (chance.fraction() < 0.5) rmSync(`${organization.database}-wal`);
        else truncateSync(`${organization.database}-wal`, below(1000));
        const database = `--database=sqlite:${organization.database}`;
        const refusal = await ParleyProcess.start(['--port=0', database]).then(
          async (started) => {
            await started.kill();
            return 'started';
          },
          (error: Error) => error.message,
        );
        expect(refusal).toMatch(/write-ahead log .* was deleted or shortened/);
        expect(refusal).not.toMatch(/\n\s+at /);
        rmSync(`${organization.database}-shm`);
      }
    } finally {
      await organization.close();
    }
  });
});
