import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '@parley/server/testing';
import { SIMULATE_COMMAND } from './simulate.command.js';

const run = (...args: readonly string[]) => runCommand(['simulate', ...args], { commands: [SIMULATE_COMMAND] });

const SHORT = ['--seed', '7', '--days', '1', '--people', '2', '--until', '6'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-simulate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('parley simulate', () => {
  it('prints the seed, the days, what was tried and how to repeat it, and writes the page', async () => {
    const page = join(folder, 'run.html');
    const { code, out, err } = await run(...SHORT, '--trace', '--page', page);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Seed 7: 2 people, 1 days, small faults\.$/m);
    expect(out).toMatch(/^#6 at \d+ \w+ p[01] /m);
    expect(out).toMatch(/^Day {3}1: 6 steps, \d+ requests, \d+ messages, \d+ crashes$/m);
    expect(out).toMatch(/^Tried: (\w+ \d+(, )?)+\.$/m);
    expect(out).toMatch(/^Every invariant held after each of 6 steps\.$/m);
    expect(out).toMatch(/^Again: parley simulate --seed 7 --days 1 --people 2 --faults small$/m);
    expect(readFileSync(page, 'utf8')).toContain('<h2>Day 1</h2>');
  });

  it('prints only the result as JSON', async () => {
    const { code, out } = await run(...SHORT, '--json');
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ seed: 7, steps: 6, violation: null })]);
  });

  it.each([
    [['--days', 'x'], '--days must be a number.'],
    [['--days', '0'], '--days must be an integer from 1 to 1000.'],
    [['--people', '1'], '--people must be an integer from 2 to 100.'],
    [['--until', '0'], '--until must be an integer from 1 to 9007199254740991.'],
    [['--faults', 'many'], '--faults must be one of none, small, all.'],
  ])('rejects %j', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: `parley: ${message}` });
  });
});
