import { MAX_HTML_LENGTH } from '../bounds.js';
import { typesetFormula } from './formula.js';
import { highlight } from './highlight.js';
import type { TypesettingJob, TypesettingResult } from './job.js';
import { Watchdog } from './watchdog.js';

/** Of simple formulas: what takes a tenth of a second. */
const UNWATCHED_CHARACTERS = 1000;

/** Does jobs on the thread that calls it, until time or room is used up. */
export function typeset(jobs: readonly TypesettingJob[], timeMs: number): readonly TypesettingResult[] {
  const watchdog = new Watchdog(timeMs, UNWATCHED_CHARACTERS);
  let length = 0;
  return jobs.map((job) => {
    if (length > MAX_HTML_LENGTH) return null;
    const html = job.kind === 'code' ? highlight(job, watchdog) : typesetFormula(job, watchdog);
    length += html?.length ?? 0;
    return length > MAX_HTML_LENGTH ? null : html;
  });
}
