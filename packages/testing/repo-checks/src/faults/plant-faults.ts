import { parseArgs } from 'node:util';
import { productSources } from '../measures.js';
import { shownPath } from '../source-code.js';
import { FAULTS } from './faults.js';
import { plant } from './planting.js';

const USAGE = `Usage: npm run faults:listed [-- --only TEXT]

Plants one small fault at a time in the sources, runs the tests that should detect it, and restores the source.
Prints one line per fault: found, NOT FOUND, NO TEXT if the file does not contain the text exactly once, or NO TEST if the
tests are missing. Exits with code 1 if a fault was not found.

  --only TEXT  plants only faults with TEXT in their names`;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const sources = new Map(productSources().map((source) => [shownPath(source.file), source]));
  let missed = 0;
  for (const { name, file, text, replacement, tests } of FAULTS.filter(({ name }) =>
    name.includes(values.only ?? ''),
  )) {
    const source = sources.get(file);
    const parts = source?.text.split(text) ?? [];
    const planted = parts.length === 2 && (await plant(source!.file, parts.join(replacement), tests));
    const { outcome, by } = planted || { outcome: 'NO TEXT', by: '' };
    if (outcome !== 'found') missed++;
    console.log(`${outcome.padEnd(9)}  ${name}  ${file}${by}`);
  }
  return missed > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
