#!/usr/bin/env node
// Makes the files of a release from its tag: `npm run release:artifacts -- 0.3.0`. Clones the tag, installs and builds
// it, and writes into dist/release/VERSION: the package, an archive that runs with Node alone, the container file, an
// SBOM, notes and checksums. Times, order and owners in the archive come from the tag.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.env.PARLEY_RELEASE_FOLDER ?? join(dirname(fileURLToPath(import.meta.url)), '../../..');
const version = process.argv[2] ?? '';
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error('Usage: npm run release:artifacts -- VERSION, such as 0.3.0');
  process.exit(1);
}
const out = join(root, 'packages/parley/dist/release', version);
const work = mkdtempSync(join(tmpdir(), 'parley-release-'));
const source = join(work, 'source');
const run = (cwd, command, ...args) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 });

try {
  run(
    root,
    'git',
    '-c',
    'advice.detachedHead=false',
    'clone',
    '--quiet',
    '--depth=1',
    `--branch=v${version}`,
    `file://${root}`,
    source,
  );
  const committedAt = Number(run(source, 'git', 'log', '-1', '--format=%ct'));
  run(source, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  run(source, 'npm', 'run', '--silent', 'pack');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  cpSync(join(source, 'packages/parley/dist', `parley-${version}.tgz`), join(out, `parley-${version}.tgz`));
  run(source, 'npm', 'pack', './packages/create-parley', '--pack-destination', out);
  writeArchive(committedAt);
  cpSync(join(source, 'docs/deploy/Containerfile'), join(out, 'Containerfile'));
  writeFileSync(join(out, `parley-${version}.cdx.json`), billOfMaterials(committedAt));
  writeFileSync(join(out, 'NOTES.md'), notesOf(readFileSync(join(source, 'docs/CHANGELOG.md'), 'utf8')));
  writeFileSync(join(out, 'SHA256SUMS'), checksums());
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.error(`The files are in ${out}`);

/** Writes the package with its libraries as one folder for this platform. */
function writeArchive(committedAt) {
  const name = `parley-${version}`;
  const folder = join(work, name);
  cpSync(join(source, 'packages/parley/dist/package'), folder, { recursive: true });
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // The libraries of optional features, but not those of pages and types.
  const optional = Object.keys(peerDependencies).filter((each) => !/^(react|react-dom|@types\/node)$/.test(each));
  copyLibraries([...Object.keys(dependencies), ...optional], folder);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(
    join(folder, 'bin/parley'),
    '#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/../dist/main.js" "$@"\n',
    { mode: 0o755 },
  );
  const platform = `${process.platform}-${process.arch}`;
  const tar = `${name}-${platform}.tar`;
  // Order, times and owners do not depend on the machine.
  run(
    work,
    'tar',
    ...['--sort=name', `--mtime=@${committedAt}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'],
    ...['--mode=u+rwX,go+rX,go-w', '-cf', tar, name],
  );
  run(work, 'gzip', '--no-name', '--best', tar);
  cpSync(join(work, `${tar}.gz`), join(out, `${tar}.gz`));
}

/** Copies libraries and their dependencies at the versions of the lock file. */
function copyLibraries(names, folder) {
  const copied = new Set();
  const open = names.map((name) => ({ name, from: workspaceOf(name), isOptional: false }));
  while (open.length > 0) {
    const { name, from, isOptional } = open.pop();
    const found = resolve(name, from);
    if (found === null) {
      if (isOptional) continue;
      throw new Error(`${name} is not installed`);
    }
    if (copied.has(found)) continue;
    copied.add(found);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(found, 'package.json'), 'utf8'),
    );
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) {
      open.push({ name: each, from: found, isOptional: each in optionalDependencies });
    }
    // Libraries inside a workspace move to the top.
    const target = join(folder, found.slice(found.indexOf('/node_modules/', source.length) + 1));
    if (existsSync(target)) throw new Error(`Two versions of ${name} are needed`);
    cpSync(found, target, { recursive: true, filter: (path) => isNeeded(path.slice(found.length), name) });
  }
}

/** Nested libraries are copied if they are used. Of SQLite, only the binary of this platform is needed. */
function isNeeded(path, name) {
  if (path.startsWith('/node_modules')) return false;
  const isUnused = /^\/(deps|src|binding\.gyp)/.test(path) || /^\/prebuilds\/(?!$)/.test(path);
  return name !== 'better-sqlite3' || !isUnused || path.endsWith(`/${process.platform}-${process.arch}.node`);
}

/** Folder of a workspace that uses the library, which may be installed inside it. */
function workspaceOf(name) {
  return [...packageFolders(source).values()].find((each) => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(each, 'package.json'), 'utf8'));
    return name in { ...dependencies, ...optionalDependencies };
  });
}

/** Finds a library like Node does; null if it is not installed. */
function resolve(name, from) {
  for (let folder = from; folder.startsWith(source); folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return path;
  }
  return null;
}

/** CycloneDX list of all libraries that run in production, without the number and time of this run. */
function billOfMaterials(committedAt) {
  const sbom = JSON.parse(
    run(
      source,
      'npm',
      'sbom',
      '--package-lock-only',
      '--sbom-format=cyclonedx',
      '--omit=dev',
      '--sbom-type=application',
    ),
  );
  delete sbom.serialNumber;
  sbom.metadata.timestamp = new Date(committedAt * 1000).toISOString();
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** Section of the version in the changelog. */
function notesOf(changelog) {
  const heading = `## [${version}]`;
  const section = changelog.split(/^(?=## \[)/m).find((each) => each.startsWith(heading));
  if (section === undefined) throw new Error(`The changelog has no section ${heading}`);
  return section;
}

function checksums() {
  const lines = readdirSync(out)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}`,
    );
  return `${lines.join('\n')}\n`;
}
