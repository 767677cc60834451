import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const main = join(__dirname, '../dist/main.js');

describe('npm run bench', () => {
  it('runs its workloads without checking their speed', () => {
    // Servers and clients are separate processes, which need the built files.
    if (!existsSync(main)) throw new Error('Build first: npm run build');
    const args = [main, '--quick', ...(IS_LONG ? [] : EXAMPLES)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('failed') });
    const [heading, , ...lines] = stdout.trimEnd().split('\n');
    expect(cellsOf(heading!)).toEqual(['workload', 'ours', 'limit', 'ratio', 'goal', '']);
    for (const line of lines) expect(Number.parseFloat(cellsOf(line)[3]!)).toBeGreaterThanOrEqual(0);
    const goals = lines.map((line) => cellsOf(line)[4]).filter((goal) => goal !== '');
    expect(goals).toHaveLength(IS_LONG ? GOALS : GOALS_OF_EXAMPLES);
  }, 1_800_000);

  it('lists the workloads for an unknown name', () => {
    const { status, stderr } = spawnSync(process.execPath, [main, 'mark-raed'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('There is no workload mark-raed.');
    expect(stderr).toContain(
      'cpu, send, facade, archive, narrows, streams, reconnect, sweep, jobs, notifications, files, offline, changes, channels, mark-read, people, orders, ' +
        'register, log-in, ldap, presence, markdown, start, memory, metrics, backup, erasure, export, import, web, postgres, cluster, ejabberd',
    );
  });
});

/** Set by `npm run endurance`, which runs every workload. */
const IS_LONG = process.env.HOSTILE_LOAD === 'long';

/** Besides `cpu`, which `.ci/run` runs in full, the only workload that can fail. */
const EXAMPLES = ['orders'];

/** Number of table rows with a goal. */
const GOALS = 124;
const GOALS_OF_EXAMPLES = 4;

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
