import type katex from 'katex';
import { MAX_HTML_LENGTH, unrenderable } from '../bounds.js';
import { OPEN_PLACEHOLDER } from '../characters.js';
import { Element } from '../html/element.js';
import { escapeText } from '../html/escape.js';
import { lazily } from '../lazy.js';
import type { Watchdog } from '../watchdog.js';
import { replaceFormulas } from './formulas.js';
import type { InlineContext, InlineRule } from './rule.js';

/** Without commands, a formula this long takes as long as it has characters, and need not be watched. */
const HARMLESS = /^[^\\]{1,200}$/s;

const library = lazily((require) => require('katex') as typeof katex);

/** The formula in HTML; null when it is none. Whatever in it would make a link, an image or a class shows as an error. */
export function renderFormula(source: string, displayMode: boolean, watchdog: Watchdog): string | null {
  const { renderToString } = library();
  const work = () => silently(() => renderToString(source, { displayMode, strict: 'ignore', trust: false }));
  try {
    return HARMLESS.test(source) ? work() : watchdog.run(work);
  } catch {
    return null;
  }
}

/** A fence of mathematics: one formula per paragraph. */
export function displayMath(text: string, watchdog: Watchdog): string {
  let html = '';
  for (const source of text.split('\n\n')) {
    if (source === '') continue;
    const formula = renderFormula(source, true, watchdog) ?? `<span class="tex-error">${escapeText(source)}</span>`;
    html += html === '' ? formula : `\n\n${formula}`;
    if (html.length > MAX_HTML_LENGTH) throw unrenderable();
  }
  return html === '' ? '' : `<p>${html}</p>`;
}

/** `$$e = mc^2$$`, on one line. */
export const math: InlineRule = (text, context) =>
  text.includes('$$') ? replaceFormulas(text, (source) => formula(source, context)) : text;

function formula(source: string, context: InlineContext): string {
  const html = context.formula(source);
  if (html !== null) return context.html.add(html, `$$${source}$$`);
  const error = new Element('span', { class: 'tex-error' });
  error.text = `$$${source}$$`;
  error.isTextFinal = true;
  return context.stash(error);
}

/** The formulas that a text may turn out to hold. */
export function findFormulas(text: string): readonly string[] {
  const found: string[] = [];
  if (text.includes('$$')) {
    replaceFormulas(text, (source) => {
      found.push(source);
      return OPEN_PLACEHOLDER;
    });
  }
  return found;
}

/** KaTeX warns on the console of characters it has no measures for: what people write is none of the log's business. */
function silently<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}
