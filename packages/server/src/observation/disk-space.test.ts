import { tmpdir } from 'node:os';
import { type DiskSpace, DiskWatch, diskSpaceOf, diskStateOf } from './disk-space.js';

const MIB = 1024 * 1024;
const space = (freeMib: number, totalMib: number): DiskSpace => ({ free: freeMib * MIB, total: totalMib * MIB });

it.each([
  [5000, 40_000, 'good'],
  [3999, 40_000, 'low'],
  [1024, 8000, 'good'],
  [1023, 8000, 'critical'],
  [64, 8000, 'critical'],
  [63, 8000, 'full'],
])('diskStateOf rates %d MiB of %d MiB as %s', (free, total, state) => {
  expect(diskStateOf(space(free, total))).toBe(state);
});

it('diskSpaceOf reads the space of a folder', () => {
  const { free, total } = diskSpaceOf(tmpdir());
  expect(total).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(total);
});

it('DiskWatch logs each deterioration once, and the recovery', async () => {
  const lines: string[] = [];
  let now = space(20_000, 40_000);
  const logger = { info: () => {}, error: () => {}, warn: (_: object, message: string) => void lines.push(message) };
  const watch = new DiskWatch(logger, () => now);
  for (const free of [20_000, 3000, 2000, 500, 3000, 500, 20_000]) {
    now = space(free, 40_000);
    await watch.run();
  }
  expect(lines).toEqual([
    'the disk of the database is filling up: 3000 MiB of 40000 MiB are free (7 %)',
    'the disk of the database is filling up: 500 MiB of 40000 MiB are free (1 %)',
    'the disk of the database is filling up: 500 MiB of 40000 MiB are free (1 %)',
    'the disk of the database has enough space again: 20000 MiB of 40000 MiB are free (50 %)',
  ]);
});
