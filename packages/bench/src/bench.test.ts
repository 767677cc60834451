import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const main = join(__dirname, '../dist/main.js');

describe('npm run bench', () => {
  it('runs every workload, and says nothing about how quick they are', () => {
    // Servers and clients are processes of their own, which need the built files.
    if (!existsSync(main)) throw new Error('Build first: npm run build');
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--quick'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('failed') });
    const [heading, , ...lines] = stdout.trimEnd().split('\n');
    expect(cellsOf(heading!)).toEqual(['workload', 'ours', 'limit', 'ratio', 'goal', '']);
    for (const line of lines) expect(Number.parseFloat(cellsOf(line)[3]!)).toBeGreaterThanOrEqual(0);
    const goals = lines.map((line) => cellsOf(line)[4]).filter((goal) => goal !== '');
    expect(goals).toHaveLength(GOALS);
  }, 1_800_000);

  it('names the workloads there are when it is asked for another one', () => {
    const { status, stderr } = spawnSync(process.execPath, [main, 'mark-raed'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('There is no workload mark-raed.');
    expect(stderr).toContain(
      'send, facade, history, archive, narrows, fan-out, reconnect, sweep, jobs, files, offline, changes, channels, mark-read, people, ' +
        'register, presence, markdown, start, memory, metrics, backup, export',
    );
  });
});

/** Lines of the table that have one. */
const GOALS = 66;

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
