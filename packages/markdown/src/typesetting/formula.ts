import type katex from 'katex';
import { lazily } from '../lazy.js';
import type { FormulaJob, TypesettingResult } from './job.js';
import type { Watchdog } from './watchdog.js';

/** Without commands, a formula this long takes as long as it has characters. */
const HARMLESS = /^[^\\]{1,200}$/s;

const library = lazily((require) => require('katex') as typeof katex);

/** Whatever in a formula would make a link, an image or a class shows as an error. */
export function typesetFormula({ source, displayMode }: FormulaJob, watchdog: Watchdog): TypesettingResult {
  const { renderToString } = library();
  const work = () => silently(() => renderToString(source, { displayMode, strict: 'ignore', trust: false }));
  try {
    return watchdog.run(work, HARMLESS.test(source) ? source.length : Number.POSITIVE_INFINITY);
  } catch {
    return null;
  }
}

/** KaTeX warns on the console of characters it has no measures for: untrusted text does not belong in the log. */
function silently<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}
