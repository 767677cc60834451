import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packagesDir } from './source-code.js';

const REPORTS = 'packages/parley/api/';
const CHANGELOG = 'docs/CHANGELOG.md';
/** A mistake in an older commit cannot be corrected any more. */
const CHECKED_COMMITS = 50;

interface Change {
  /** Hash and subject. */
  readonly title: string;
  readonly message: string;
  readonly paths: readonly string[];
}

/** Changes of the public types without a changelog line. `Changelog: none` in the message is for changes of form. */
const unexplained = (changes: readonly Change[]): readonly string[] =>
  changes
    .filter(({ paths }) => paths.some((path) => path.startsWith(REPORTS)) && !paths.includes(CHANGELOG))
    .filter(({ message }) => !/^Changelog: none$/m.test(message))
    .map(({ title }) => title);

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: join(packagesDir, '..'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** The last commits, and the uncommitted changes. Empty outside a clone. */
function lastChanges(): readonly Change[] {
  try {
    const log = git('log', `-${CHECKED_COMMITS}`, '--format=%x00%h %s%n%b%x01', '--name-only');
    const commits = log
      .split('\0')
      .slice(1)
      .map((entry) => {
        const [message = '', paths = ''] = entry.split('\x01');
        return { title: message.split('\n')[0]!, message, paths: paths.split('\n').filter(Boolean) };
      });
    const paths = git('diff', '--name-only', 'HEAD').split('\n').filter(Boolean);
    return [{ title: 'uncommitted changes', message: '', paths }, ...commits];
  } catch {
    return [];
  }
}

describe('report of the public types', () => {
  const report = `${REPORTS}parley.api.md`;

  it.each([
    ['accepts a commit that also changes the changelog', [report, CHANGELOG], '', []],
    ['accepts a commit with `Changelog: none`', [report], 'x\n\nChangelog: none\n', []],
    ['accepts a commit that changes no report', ['packages/parley/src/index.ts'], '', []],
    ['rejects a commit that leaves the changelog unchanged', [report, 'docs/embedding.md'], '', ['1 x']],
  ])('%s', (_, paths, message, expected) => {
    expect(unexplained([{ title: '1 x', message, paths }])).toEqual(expected);
  });

  it('changes only together with the changelog', () => {
    expect(unexplained(lastChanges())).toEqual([]);
  });
});
