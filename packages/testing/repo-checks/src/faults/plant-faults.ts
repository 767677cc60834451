import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { productSources } from '../measures.js';
import { packagesDir, shownPath } from '../source-code.js';
import { FAULTS, type Fault } from './faults.js';

const USAGE = `Usage: npm run faults:listed [-- --only TEXT]

Plants one small fault at a time in the sources, runs the tests that should detect it, and restores the source.
Prints one line per fault: found, NOT FOUND, NO TEXT if the file does not contain the text exactly once, or NO TEST if the
tests are missing. Exits with code 1 if a fault was not found.

  --only TEXT  plants only faults with TEXT in their names`;

const ROOT = resolve(packagesDir, '..');
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');

type Outcome = 'found' | 'NOT FOUND' | 'NO TEXT' | 'NO TEST';

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  let missed = 0;
  for (const fault of FAULTS.filter(({ name }) => name.includes(values.only ?? ''))) {
    const { outcome, file } = await plant(fault);
    if (outcome !== 'found') missed++;
    console.log(`${outcome.padEnd(9)}  ${fault.name}  ${file}`);
  }
  return missed > 0 ? 1 : 0;
}

/** Changes one source file while the tests run. */
async function plant(fault: Fault): Promise<{ readonly outcome: Outcome; readonly file: string }> {
  const source = productSources().find(({ file }) => shownPath(file) === fault.file);
  if (source?.text.split(fault.text).length !== 2) return { outcome: 'NO TEXT', file: fault.file };
  const restore = () => writeFileSync(source.file, source.text);
  const end = () => process.exit(130);
  process.once('exit', restore);
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    writeFileSync(
      source.file,
      source.text.replace(fault.text, () => fault.replacement),
    );
    const { code, output } = await runTests(fault);
    const failed = [...output.matchAll(/^FAIL .*?(\S+\.test\.ts)/gm)].map(([, file]) => file!.split('/').at(-1)!);
    const outcome = /^No tests found/m.test(output) ? 'NO TEST' : code === 0 ? 'NOT FOUND' : 'found';
    const by = failed.length > 0 ? ` by ${[...new Set(failed)].join(', ')}` : '';
    return { outcome, file: `${shownPath(source.file)}${by}` };
  } finally {
    restore();
    process.off('exit', restore).off('SIGINT', end).off('SIGTERM', end);
  }
}

async function runTests({ tests }: Fault): Promise<{ readonly code: number; readonly output: string }> {
  const pattern = `/(${tests.join('|')})\\.test\\.ts$`;
  const child = spawn(process.execPath, [JEST, '--maxWorkers=1', '--', pattern], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, output: output + errors };
}

process.exitCode = await main(process.argv.slice(2));
