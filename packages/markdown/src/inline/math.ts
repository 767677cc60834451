import { OPEN_PLACEHOLDER } from '../characters.js';
import { Element } from '../html/element.js';
import { escapeText } from '../html/escape.js';
import type { FormulaJob } from '../typesetting/job.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import { replaceFormulas } from './formulas.js';
import type { InlineContext, InlineRule } from './rule.js';

/** A fence of mathematics: one formula per paragraph. Null when it holds none. */
export function displayMath(text: string, typesetting: Typesetting): (() => string) | null {
  const jobs = text
    .split('\n\n')
    .filter((source) => source !== '')
    .map((source): FormulaJob => ({ kind: 'formula', source, displayMode: true }));
  if (jobs.length === 0) return null;
  for (const job of jobs) typesetting.request(job);
  const write = (job: FormulaJob) =>
    typesetting.resultOf(job) ?? `<span class="tex-error">${escapeText(job.source)}</span>`;
  return () => `<p>${jobs.map(write).join('\n\n')}</p>`;
}

/** `$$e = mc^2$$`, on one line. */
export const math: InlineRule = (text, context) =>
  text.includes('$$') ? replaceFormulas(text, (source) => formula(source, context)) : text;

function formula(source: string, { typesetting, html: stash, stash: stashElement }: InlineContext): string {
  const job: FormulaJob = { kind: 'formula', source, displayMode: false };
  // Something that was understood already is no part of a formula.
  if (!source.includes(OPEN_PLACEHOLDER)) typesetting.request(job);
  const html = typesetting.resultOf(job);
  if (html !== null) return stash.add(html, `$$${source}$$`);
  const error = new Element('span', { class: 'tex-error' });
  error.text = `$$${source}$$`;
  error.isTextFinal = true;
  return stashElement(error);
}
