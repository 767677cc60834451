import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IS_LONG } from './scale.js';

const SHARES = 10;
/** Number of the share of the last run on this machine. */
const LAST_SHARE = join(__dirname, '../../../../node_modules/.parley-hostile-share');
const MS_PER_DAY = 86_400_000;

export interface Share {
  readonly name: string;
  includes(index: number): boolean;
}

/**
 * Returns everything for an endurance run, otherwise the tenth that follows the one of the last run, so that ten runs
 * are complete. Prints its number, which `HOSTILE_SHARE` repeats.
 */
export function chooseShare(): Share {
  if (IS_LONG) return { name: 'all', includes: () => true };
  const number = Number(process.env.HOSTILE_SHARE ?? nextShare()) % SHARES;
  process.stdout.write(`Hostile inputs: share ${number} of 0 to ${SHARES - 1}; HOSTILE_SHARE=${number} repeats it.\n`);
  return { name: `share ${number}`, includes: (index) => index % SHARES === number };
}

/** A new clone starts with the share of the day. */
function nextShare(): number {
  let last = Math.floor(Date.now() / MS_PER_DAY);
  try {
    last = Number(readFileSync(LAST_SHARE, 'utf8'));
  } catch {
    // The first run here.
  }
  const next = (last + 1) % SHARES;
  writeFileSync(LAST_SHARE, String(next));
  return next;
}
