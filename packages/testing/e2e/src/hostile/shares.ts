import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IS_LONG } from './scale.js';

const SHARES = 10;
/** File with the number of the last share run on this machine. */
const LAST_SHARE = join(__dirname, '../../../../../node_modules/.parley-hostile-share');
const MS_PER_DAY = 86_400_000;

export interface Share {
  readonly name: string;
  includes(index: number): boolean;
}

/**
 * Returns everything for an endurance run, otherwise the tenth after the previous run's, so that ten runs are complete.
 * Prints its number, which can be repeated with `HOSTILE_SHARE`.
 */
export function chooseShare(): Share {
  if (IS_LONG) return { name: 'all', includes: () => true };
  const number = Number(process.env.HOSTILE_SHARE ?? nextShare()) % SHARES;
  process.stdout.write(`Hostile inputs: share ${number} of 0 to ${SHARES - 1}; HOSTILE_SHARE=${number} repeats it.\n`);
  return { name: `share ${number}`, includes: (index) => index % SHARES === number };
}

/** A new clone starts with a share derived from the date. */
function nextShare(): number {
  let last = Math.floor(Date.now() / MS_PER_DAY);
  try {
    last = Number(readFileSync(LAST_SHARE, 'utf8'));
  } catch {
    // This is the first run.
  }
  const next = (last + 1) % SHARES;
  writeFileSync(LAST_SHARE, String(next));
  return next;
}
