#!/usr/bin/env node
// Releases a version: `npm run release -- 0.2.0`. Moves the changelog's [Unreleased] section under the version, writes
// the version into every manifest and the checksums of the schema steps into fixtures, commits, and creates the tag `v0.2.0`. A second commit begins the next
// version, such as `0.3.0-dev`. Pushing is left to the caller.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checksumOf } from '../../adapters/storage/dist/index.js';
import { packageFolders } from '../../server/scripts/package-folders.mjs';

const root = process.env.PARLEY_RELEASE_FOLDER ?? join(dirname(fileURLToPath(import.meta.url)), '../../..');
const version = process.argv[2] ?? '';
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const refuse = (reason) => {
  console.error(reason);
  process.exit(1);
};

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) refuse('Usage: npm run release -- VERSION, such as 0.2.0');
if (git('status', '--porcelain') !== '') refuse('Commit your changes first.');
if (git('tag', '--list', `v${version}`) !== '') refuse(`Version ${version} has been released.`);

const changelog = join(root, 'docs/CHANGELOG.md');
const text = readFileSync(changelog, 'utf8');
const [, entries] =
  /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(text) ?? refuse('The changelog has no [Unreleased].');
if (entries.trim() === '') refuse('The changelog says nothing under [Unreleased].');
const today = new Date().toISOString().slice(0, 10);
writeFileSync(
  changelog,
  text
    .replace(' Nothing has been released yet.', '')
    .replace('## [Unreleased]\n', () => `## [Unreleased]\n\n## [${version}] - ${today}\n`),
);

for (const database of ['sqlite', 'postgres']) {
  const { MIGRATIONS } = await import(`../../adapters/${database}/dist/features.js`);
  const checksums = Object.fromEntries(MIGRATIONS.map((step) => [step.name, checksumOf(step)]));
  const fixture = join(root, 'packages/adapters', database, 'src/engine/fixtures/released-steps.json');
  writeFileSync(fixture, `${JSON.stringify(checksums, null, 2)}\n`);
}
writeVersion(version);
git('commit', '--all', '--message', `chore: release ${version}`);
git('tag', '--annotate', `v${version}`, '--message', `Parley ${version}`);
// Builds of later commits must not be taken for the release.
const next = `${nextMinor(version)}-dev`;
writeVersion(next);
git('commit', '--all', '--message', `chore: begin ${next}`);
console.error(`Released ${version}. Push it with: git push --follow-tags`);

/** Returns 0.3.0 for 0.2.0 and 0.2.1, and 1.0.0 for 1.0.0-rc.1. */
function nextMinor(released) {
  const [numbers, prerelease] = released.split('-');
  const [major, minor] = numbers.split('.');
  return prerelease ? numbers : `${major}.${Number(minor) + 1}.0`;
}

/** Writes a version into the manifests, the lock file and the pages that name the package's file. */
function writeVersion(to) {
  const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);
  for (const page of ['docs/embedding.md', 'packages/parley/README.md', ...guides].map((path) => join(root, path))) {
    writeFileSync(page, readFileSync(page, 'utf8').replace(/parley-\d[\w.-]*\.tgz/g, `parley-${to}.tgz`));
  }
  for (const file of [root, ...packageFolders(root).values()].map((folder) => join(folder, 'package.json'))) {
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    manifest.version = to;
    for (const dependencies of [manifest.dependencies, manifest.devDependencies]) {
      for (const name of Object.keys(dependencies ?? {})) if (name.startsWith('@parley/')) dependencies[name] = to;
    }
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: root, stdio: 'ignore' });
}
