import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../../../..');

/** Counts and last lines of `.ci/run` for a report. */
function summaryOf(report: object): { readonly counts: string; readonly lines: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-results-'));
  const file = join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(report));
  const { stdout, stderr } = spawnSync(process.execPath, ['.ci/results.mjs', file], { cwd: root, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { counts: stdout.trim(), lines: stderr };
}

const fileOf = (name: string, status: string, message: string, assertionResults: readonly object[]) => ({
  name: join(root, name),
  status,
  message,
  assertionResults,
});

const testOf = (status: string, fullName: string, ...failureMessages: string[]) => ({
  status,
  fullName,
  failureMessages,
});

const storyOf = (title: string, status: string, ...messages: string[]) => ({
  title,
  file: 'phone.test.ts',
  line: 3,
  tests: [{ status, results: messages.map((message) => ({ errors: message === '' ? [] : [{ message }] })) }],
});

describe('.ci/results.mjs', () => {
  it('counts tests of Jest and names failed and skipped ones', () => {
    const { counts, lines } = summaryOf({
      testResults: [
        fileOf('a.test.ts', 'failed', 'all', [testOf('passed', 'sends'), testOf('failed', 'receives', 'Expected: 1')]),
        fileOf('b.test.ts', 'passed', '', [testOf('pending', 'waits')]),
      ],
    });
    expect(counts).toBe('1 1');
    expect(lines).toBe('Skipped: b.test.ts: waits\nFailed: a.test.ts: receives\nExpected: 1\n\n');
  });

  it('counts a file that fails outside its tests as one failure', () => {
    const { counts, lines } = summaryOf({
      testResults: [
        fileOf('a.test.ts', 'failed', 'Cannot find module', []),
        fileOf('b.test.ts', 'failed', 'afterAll failed', [testOf('passed', 'sends')]),
      ],
    });
    expect(counts).toBe('1 2');
    expect(lines).toBe('Failed: a.test.ts\nCannot find module\n\nFailed: b.test.ts\nafterAll failed\n\n');
  });

  it('counts browser stories of nested groups and names failed ones without colors', () => {
    const { counts, lines } = summaryOf({
      suites: [
        {
          specs: [storyOf('opens', 'expected', '')],
          suites: [
            { specs: [storyOf('pulls', 'unexpected', '\u001b[31mTimed out\u001b[39m'), storyOf('rings', 'skipped')] },
          ],
        },
      ],
      errors: [],
    });
    expect(counts).toBe('1 1');
    expect(lines).toBe('Skipped: phone.test.ts:3: rings\nFailed: phone.test.ts:3: pulls\nTimed out\n\n');
  });

  it('counts a story that passed at the second attempt as passed, and names it', () => {
    const { counts, lines } = summaryOf({
      suites: [{ specs: [storyOf('pulls', 'flaky', 'Timed out', '')] }],
      errors: [],
    });
    expect(counts).toBe('1 0');
    expect(lines).toBe('Passed at the second attempt: phone.test.ts:3: pulls\nTimed out\n\n');
  });

  it('counts an error outside browser stories as a failure', () => {
    const { counts, lines } = summaryOf({ suites: [], errors: [{ message: 'Cannot find module' }] });
    expect(counts).toBe('0 1');
    expect(lines).toBe('Failed: outside a story\nCannot find module\n\n');
  });

  it('shows at most 20 failures of 1,000 characters', () => {
    const stories = Array.from({ length: 30 }, (_, n) => storyOf(`story ${n}`, 'unexpected', 'x'.repeat(5000)));
    const { counts, lines } = summaryOf({ suites: [{ specs: stories }], errors: [] });
    expect(counts).toBe('0 30');
    expect(lines.match(/^Failed: /gm)).toHaveLength(20);
    expect(lines.length).toBeLessThan(20 * 1020);
  });
});
