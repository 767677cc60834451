import { OPEN_PLACEHOLDER, WORD } from '../characters.js';
import { Element, escapeText } from '../html/html.js';
import type { FormulaJob } from '../typesetting/typeset.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import type { InlineContext, InlineRule } from './rule.js';

const WORD_BEFORE = new RegExp(`[${WORD}]$`, 'u');
const WORD_AT_START = new RegExp(`^[${WORD}]`, 'u');
/** What a formula does not begin with. */
const NO_BEGINNING = /^[\n_]/;

/** A run of dollars, and what stands behind it. */
class Dollars {
  private readonly pieces: string[] = [];
  private length = 0;
  private hasNewline = false;
  /** Whether a dollar that follows directly belongs to what stands behind; a backslash that begins it escapes nothing. */
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

  /** Whether what stands behind could be a formula. */
  get canHold(): boolean {
    return this.mayOpen && this.count === 2 && this.length > 0 && this.beginsWell && !this.hasNewline;
  }

  get inside(): string {
    return this.pieces.join('');
  }
}

/**
 * Replaces the formulas: on one line between two dollars and two dollars, no letters around those, no dollars in it but
 * such as `\$`. A formula may hold another once that has been replaced, so openings are kept, innermost last. Nothing is
 * looked at twice.
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

/** One character, which may be two code units. */
const next = (text: string, position: number) => text.slice(position, position + 2);

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
