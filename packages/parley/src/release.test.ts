import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '../scripts/release.mjs');
const CHANGELOG =
  '# Changelog\n\nOf Parley. Nothing has been released yet.\n\n## [Unreleased]\n\n- Faster.\n\n## [0.1.0] - 2020-01-02\n\n- First.\n';

describe('npm run release', () => {
  let root: string;
  const at = (path: string) => join(root, path);
  const read = (path: string) => readFileSync(at(path), 'utf8');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd: root,
      encoding: 'utf8',
    });
  const release = (version: string) => {
    const env = {
      ...process.env,
      PARLEY_RELEASE_FOLDER: root,
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@example.com',
    };
    return execFileSync(process.execPath, [SCRIPT, version], { env, encoding: 'utf8', stdio: 'pipe' });
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-release-'));
    const databases = ['sqlite', 'postgres'].map((name) => `packages/adapters/${name}/src/engine/fixtures`);
    for (const folder of ['docs/guides', 'packages/domain/src', 'packages/parley/src', ...databases])
      mkdirSync(at(folder), { recursive: true });
    for (const folder of databases) writeFileSync(at(`${folder}/released-steps.json`), '{}');
    writeFileSync(at('docs/CHANGELOG.md'), CHANGELOG);
    writeFileSync(at('docs/embedding.md'), 'npm install ./parley-0.1.0.tgz\n');
    writeFileSync(at('docs/guides/bot.md'), 'npm install ./parley-0.1.0.tgz\n');
    writeFileSync(at('packages/parley/README.md'), 'parley-0.1.0.tgz\n');
    writeFileSync(
      at('package.json'),
      '{ "name": "w", "version": "0.1.0", "workspaces": ["packages/adapters/*", "packages/*"] }',
    );
    writeFileSync(at('package-lock.json'), '{ "lockfileVersion": 3, "packages": {} }');
    writeFileSync(at('packages/domain/package.json'), '{ "name": "@parley/domain", "version": "0.1.0" }');
    writeFileSync(
      at('packages/parley/package.json'),
      '{ "name": "parley", "version": "0.1.0", "dependencies": { "@parley/domain": "0.1.0" } }',
    );
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'first');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('begins the next version in development after the tag', () => {
    release('0.2.0');
    expect(git('log', '-2', '--format=%s').trim()).toBe('chore: begin 0.3.0-dev\nchore: release 0.2.0');
    expect(git('status', '--porcelain')).toBe('');
    expect(JSON.parse(read('packages/parley/package.json'))).toMatchObject({
      version: '0.3.0-dev',
      dependencies: { '@parley/domain': '0.3.0-dev' },
    });
    expect(read('docs/embedding.md')).toBe('npm install ./parley-0.3.0-dev.tgz\n');
  });

  it('writes the version into manifests, changelog and pages, records the schema steps, commits and tags', () => {
    release('0.2.0');
    git('checkout', '--quiet', 'v0.2.0');
    expect(JSON.parse(read('packages/parley/package.json'))).toMatchObject({
      version: '0.2.0',
      dependencies: { '@parley/domain': '0.2.0' },
    });
    expect(read('docs/CHANGELOG.md')).toMatch(
      /^# Changelog\n\nOf Parley\.\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n- Faster\.\n\n## \[0\.1\.0\]/,
    );
    expect([read('docs/embedding.md'), read('docs/guides/bot.md'), read('packages/parley/README.md')]).toEqual([
      'npm install ./parley-0.2.0.tgz\n',
      'npm install ./parley-0.2.0.tgz\n',
      'parley-0.2.0.tgz\n',
    ]);
    for (const database of ['sqlite', 'postgres']) {
      const steps = JSON.parse(read(`packages/adapters/${database}/src/engine/fixtures/released-steps.json`));
      expect(steps).toMatchObject({ baseline: expect.stringMatching(/^[\da-f]{64}$/) });
    }
    expect(git('log', '-1', '--format=%s').trim()).toBe('chore: release 0.2.0');
    expect(git('describe').trim()).toBe('v0.2.0');
  });

  it('rejects invalid versions, uncommitted changes, and a release without entries', () => {
    expect(() => release('next')).toThrow(/Usage/);
    release('0.2.0');
    expect(() => release('0.2.0')).toThrow(/has been released/);
    expect(() => release('0.3.0')).toThrow(/says nothing/);
    writeFileSync(at('docs/CHANGELOG.md'), '');
    expect(() => release('0.3.0')).toThrow(/Commit your changes/);
  });
});
