import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packagesDir, shownPath, sourcesOf } from '../source-code.js';
import { plant, run } from './planting.js';
import { type RandomFault, randomFaults } from './random-faults.js';
import { equivalentsOf, nearestSuites } from './rule-faults.js';

const USAGE = `Usage: npm run faults:random -- --seed N [--count M] [--skip K] [--seeds S]

Makes M faults (default: 20) from the syntax trees of use cases, rules, storage and operations, chosen by the seed N. Runs the
nearest unit tests with each, plays S seeds (default: 4) of three days and four people, and runs acceptance tests that name the
operation if both found nothing. Prints a line per fault with its finders. Exits with code 1 if a fault was not found.

  --skip K  leaves out the first K of them`;

const SIMULATION = resolve(packagesDir, 'testing/simulator/dist/planting/child.js');
/** Acceptance suites of one fault. */
const MAX_SUITES = 15;

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { seed: text, count: text, skip: text, seeds: text, help: { type: 'boolean' } } as const;
  const { seed, count = 20, skip = 0, seeds = 4, help } = parseArgs({ args: [...args], options }).values;
  if (help || seed === undefined) {
    console.log(USAGE);
    return help ? 0 : 1;
  }
  const counts = { unit: 0, simulation: 0, acceptance: 0, missed: 0 };
  const faults = randomFaults(Number(seed), Number(count)).slice(Number(skip));
  for (const fault of faults.filter((fault) => equivalentsOf(fault).length === 0)) {
    const finders: string[] = [];
    const note = (finder: keyof typeof counts, how: string | null) => {
      if (how === null) return;
      counts[finder]++;
      finders.push(`${finder}${how}`);
    };
    note('unit', await findByTests(fault, unitSuites(fault)));
    note('simulation', await findBySimulation(fault, Number(seeds)));
    if (finders.length === 0) note('acceptance', await findByTests(fault, acceptanceSuites(fault)));
    if (finders.length === 0) counts.missed++;
    const change = `${fault.text.replace(/\s+/g, ' ')}  →  ${fault.replacement.replace(/\s+/g, ' ')}`;
    console.log(`${finders.join(', ') || 'NOT FOUND'}  ${fault.kind}  ${fault.file}:${fault.line}  ${change}`);
  }
  console.log(JSON.stringify(counts));
  return counts.missed > 0 ? 1 : 0;
}

async function findByTests({ path, planted }: RandomFault, suites: readonly string[]): Promise<string | null> {
  if (suites.length === 0) return null;
  const { outcome, by } = await plant(path, planted(), suites, '--bail');
  return outcome === 'found' ? by : null;
}

/** A run that a fault stops has found it. */
async function findBySimulation({ path, planted }: RandomFault, seeds: number): Promise<string | null> {
  const planting = { source: path, text: readFileSync(path, 'utf8'), replacement: planted() };
  const { code, output } = await run(SIMULATION, JSON.stringify({ planting, seeds, shrinks: false }));
  return output === '' && code === 0
    ? null
    : ` by ${/^\w*Error: .*$/m.exec(output)?.[0] ?? output.trim().split('\n')[0]}`;
}

const suitesOf = (name: string): readonly string[] => sourcesOf(name).filter((file) => file.endsWith('.test.ts'));
const withoutEnd = (suites: readonly string[]): readonly string[] =>
  suites.map((file) => shownPath(file).replace(/\.test\.ts$/, ''));

/** Suites named after the source or importing it, or those of its folder; contracts for storages. */
function unitSuites({ file, source, path }: RandomFault): readonly string[] {
  const name = file.split('/')[0]!;
  const ofPackage = suitesOf(name);
  const nearest = nearestSuites(source, ofPackage);
  const suites = nearest.length > 0 ? nearest : ofPackage.filter((suite) => dirname(suite) === dirname(path));
  return [...withoutEnd(suites), ...(/sqlite|storage/.test(name) ? ['sqlite/src/engine/contracts'] : [])];
}

/** Folders of acceptance tests with other names. */
const ACCEPTANCE_AREAS: Readonly<Record<string, string>> = {
  writing: 'messages',
  'log-in': 'access',
  pages: 'clients',
};

/** Suites of the same area, and those that request operations of this source or of domain sources that import it. */
function acceptanceSuites({ path }: RandomFault): readonly string[] {
  const read = (file: string) => readFileSync(file, 'utf8');
  const exported = (file: string) =>
    [...read(file).matchAll(/^export .*?(?:class|function|const) (\w+)/gm)].map(([, name]) => name!);
  const importing = sourcesOf('domain').filter((file) => read(file).includes(`/${basename(path, '.ts')}.js'`));
  const names = new RegExp(`\\b(${[path, ...importing].flatMap(exported).join('|')})\\b`);
  const http = sourcesOf('http').filter((file) => file === path || names.test(read(file)));
  const paths = http.flatMap((file) =>
    [...read(file).matchAll(/route\('\w+', '(\/[\w/]*)/g)].map(([, start]) => start!),
  );
  const area = basename(dirname(path));
  const near = [join('src', ACCEPTANCE_AREAS[area] ?? area, '/'), `/${path.split('.').at(-2)}.test.ts`];
  const score = (file: string) =>
    near.filter((part) => file.includes(part)).length * 1e6 +
    paths.reduce((sum, start) => sum + read(file).split(start).length - 1, 0);
  const scored = suitesOf('acceptance').map((file) => [file, score(file)] as const);
  const ranked = scored.filter(([, score]) => score > 0).sort(([, a], [, b]) => b - a);
  return withoutEnd(ranked.slice(0, MAX_SUITES).map(([file]) => file));
}

process.exitCode = await main(process.argv.slice(2));
