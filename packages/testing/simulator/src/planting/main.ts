import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { PLANTED_FAULTS, type PlantedFault } from './faults.js';

/**
 * Plants one fault at a time in the product, without changing a file, and plays seeds until an invariant fails. Prints one
 * row of a table per fault. Exits with code 1 if a fault that can be found was not found.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seeds: { type: 'string', default: '8' },
    jobs: { type: 'string', default: '1' },
  },
});
const PACKAGES = fileURLToPath(new URL('../../../../', import.meta.url));
const CHILD = fileURLToPath(new URL('child.js', import.meta.url));

/** A run that is neither found nor done after this time has stopped by itself. */
const TIMEOUT_MS = 20 * 60_000;

/** Returns how the fault was found; null if it was not. */
async function plant({ file, text, replacement, nodes }: PlantedFault): Promise<string | null> {
  const source = `${PACKAGES}${file}`;
  if (readFileSync(source, 'utf8').split(text).length !== 2)
    throw new Error(`${file} must have the text once: ${text}`);
  const planting = JSON.stringify({ planting: { source, text, replacement }, nodes, seeds: Number(values.seeds) });
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, planting], { timeout: TIMEOUT_MS });
    return stdout.trim() || null;
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return `the run ends with ${/^\w*Error: .*$/m.exec(stderr)?.[0] ?? 'an error'}`;
  }
}

const left = PLANTED_FAULTS.filter(({ name }) => name.includes(values.only));
const work = async () => {
  for (let fault = left.shift(); fault; fault = left.shift()) await report(fault);
};
await Promise.all(Array.from({ length: Number(values.jobs) }, work));

async function report(fault: PlantedFault): Promise<void> {
  const found = await plant(fault);
  if (!found && fault.hidden === undefined) process.exitCode = 1;
  console.log(
    `| ${fault.name} | ${found ? `found: ${found}` : `not found: ${fault.hidden ?? `${values.seeds} seeds`}`} |`,
  );
}
