import { OPEN_PLACEHOLDER, WORD } from '../characters.js';
import { Element, escapeText } from '../html/html.js';
import type { FormulaJob } from '../typesetting/typeset.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import type { InlineContext, InlineRule } from './rule.js';

const WORD_BEFORE = new RegExp(`[${WORD}]$`, 'u');
const WORD_AT_START = new RegExp(`^[${WORD}]`, 'u');
/** Invalid first characters of a formula. */
const NO_BEGINNING = /^[\n_]/;

/** Run of dollars with the text after it. */
class Dollars {
  private readonly pieces: string[] = [];
  private length = 0;
  private hasNewline = false;
  /** True if a directly following dollar belongs to the text; an initial backslash escapes nothing. */
  escapesNext = false;
  private beginsWell = true;

  constructor(
    readonly count: number,
    private readonly mayOpen: boolean,
  ) {}

  add(piece: string): void {
    if (piece === '') return;
    if (this.length === 0) this.beginsWell = !NO_BEGINNING.test(piece);
    this.hasNewline ||= piece.includes('\n');
    this.escapesNext = piece.endsWith('\\') && this.length + piece.length > 1;
    this.pieces.push(piece);
    this.length += piece.length;
  }

  /** True if the text after the run could be a formula. */
  get canHold(): boolean {
    return this.mayOpen && this.count === 2 && this.length > 0 && this.beginsWell && !this.hasNewline;
  }

  get inside(): string {
    return this.pieces.join('');
  }
}

/**
 * Replaces formulas: text on one line between double dollars, without adjacent letters and without dollars except `\$`.
 * A formula may contain another formula once that is replaced, so open runs are kept on a stack. Runs in linear time.
 */
export function replaceFormulas(text: string, replace: (source: string) => string): string {
  const open: Dollars[] = [new Dollars(0, false)];
  let done = 0;
  for (let start = text.indexOf('$'); start !== -1; start = text.indexOf('$', done)) {
    const before = text.slice(done, start);
    open.at(-1)!.add(before);
    done = start + 1;
    while (text[done] === '$') done++;
    const count = done - start;
    const opening = open.at(-1)!;
    const isEscaped = opening.escapesNext;
    if (count === 1 && isEscaped) {
      opening.add('$');
      continue;
    }
    const closes =
      (count === 2 || (count === 3 && isEscaped)) && opening.canHold && !WORD_AT_START.test(next(text, done));
    if (closes) {
      if (count === 3) opening.add('$');
      open.pop();
      open.at(-1)!.add(replace(opening.inside));
    } else {
      open.push(new Dollars(count, !WORD_BEFORE.test(before.slice(-2))));
    }
  }
  open.at(-1)!.add(text.slice(done));
  return open.map(({ count, inside }) => '$'.repeat(count) + inside).join('');
}

/** One character, which may have two code units. */
const next = (text: string, position: number) => text.slice(position, position + 2);

/** Renders a math fence with one formula per paragraph; null if it is empty. */
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

/** Renders `$$e = mc^2$$` on one line. */
export const math: InlineRule = (text, context) =>
  text.includes('$$') ? replaceFormulas(text, (source) => formula(source, context)) : text;

function formula(source: string, { typesetting, html: stash, stash: stashElement }: InlineContext): string {
  const job: FormulaJob = { kind: 'formula', source, displayMode: false };
  // Formulas cannot contain content that was already parsed.
  if (!source.includes(OPEN_PLACEHOLDER)) typesetting.request(job);
  const html = typesetting.resultOf(job);
  if (html !== null) return stash.add(html, `$$${source}$$`);
  const error = new Element('span', { class: 'tex-error' });
  error.text = `$$${source}$$`;
  error.isTextFinal = true;
  return stashElement(error);
}
