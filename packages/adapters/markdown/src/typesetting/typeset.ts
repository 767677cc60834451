import { createContext, Script } from 'node:vm';
import type { Emitter, HLJSApi, LanguageFn } from 'highlight.js';
import type katex from 'katex';
import { MAX_HTML_LENGTH } from '../budgets.js';
import { lazily } from '../characters.js';
import { escapeCode } from '../html/html.js';

const guard = lazily(() => {
  const sandbox: { work: () => unknown } = { work: () => undefined };
  return { sandbox, context: createContext(sandbox), script: new Script('work()') };
});

/**
 * Time limit for library code that cannot be bounded otherwise: backtracking grammars, expanding macros,
 * administrators' patterns. Watching costs a tenth of a millisecond and depends on the machine, so work known to be
 * small is not watched.
 */
export class Watchdog {
  /**
   * @param steps Total amount of unwatched work, in the callers' unit.
   * @param stepsAtOnce Work up to this amount is never watched; it only reduces the time once the steps are used up.
   */
  constructor(
    private remainingMs: number,
    private steps: number,
    private readonly stepsAtOnce = 0,
  ) {}

  get isOver(): boolean {
    return this.remainingMs < 1;
  }

  /**
   * @param steps Upper bound of the work; infinite if unknown.
   * @throws if the work fails or exceeds the time limit
   */
  run<T>(work: () => T, steps: number): T {
    if (this.isOver) throw new Error('No time left');
    if (steps > this.steps) return steps <= this.stepsAtOnce ? this.runTimed(work) : this.runWatched(work);
    this.steps -= steps;
    return work();
  }

  private runTimed<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.remainingMs -= performance.now() - start;
    }
  }

  private runWatched<T>(work: () => T): T {
    const { sandbox, context, script } = guard();
    const start = performance.now();
    sandbox.work = work;
    try {
      return script.runInContext(context, { timeout: Math.floor(this.remainingMs) }) as T;
    } finally {
      sandbox.work = () => undefined;
      this.remainingMs -= performance.now() - start;
    }
  }
}

/** Content that only a library can render. */
export type TypesettingJob = CodeJob | FormulaJob;

/** Code in a language with a grammar. */
export interface CodeJob {
  readonly kind: 'code';
  readonly source: string;
  readonly grammar: string;
}

export interface FormulaJob {
  readonly kind: 'formula';
  readonly source: string;
  readonly displayMode: boolean;
}

/** HTML; null for an invalid formula and for jobs not completed in time. */
export type TypesettingResult = string | null;

/** Executes the jobs of one text and returns results in order. Never fails. */
export interface Typesetter {
  typeset(jobs: readonly TypesettingJob[]): Promise<readonly TypesettingResult[]>;
  close(): Promise<void>;
}

/** Formulas up to this length without commands take linear time. */
const HARMLESS = /^[^\\]{1,200}$/s;

/** Even an empty matrix cell takes KaTeX long and has more HTML than this. */
const MIN_CELL_HTML = 500;

/** True for a matrix with too much HTML. */
const hasTooManyCells = (source: string): boolean =>
  source.length > MAX_HTML_LENGTH / MIN_CELL_HTML &&
  (source.match(/\\.|&/gs) ?? []).filter((token) => token === '&').length > MAX_HTML_LENGTH / MIN_CELL_HTML;

const library = lazily((require) => require('katex') as typeof katex);

/** Renders a formula. Commands that would create links, images or classes render as errors. */
export function typesetFormula({ source, displayMode }: FormulaJob, watchdog: Watchdog): TypesettingResult {
  if (hasTooManyCells(source)) return null;
  const { renderToString } = library();
  const work = () => silently(() => renderToString(source, { displayMode, strict: 'ignore', trust: false }));
  try {
    return watchdog.run(work, HARMLESS.test(source) ? source.length : Number.POSITIVE_INFINITY);
  } catch {
    return null;
  }
}

/** Suppresses KaTeX's console warnings about unknown characters, because untrusted text must not reach the log. */
function silently<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

/** Maps highlight.js scopes to classes of the reference highlighter known to clients. The innermost scope wins. */
const CLASSES: Readonly<Record<string, string>> = {
  keyword: 'k',
  built_in: 'nb',
  type: 'kt',
  literal: 'kc',
  number: 'm',
  operator: 'o',
  punctuation: 'p',
  tag: 'p',
  property: 'na',
  attr: 'na',
  attribute: 'na',
  regexp: 'sr',
  string: 's',
  'char.escape': 'se',
  subst: 'si',
  symbol: 'ss',
  variable: 'nv',
  'template-variable': 'nv',
  'variable.language': 'bp',
  'variable.constant': 'no',
  'title.function': 'nf',
  'title.class': 'nc',
  'title.class.inherited': 'nc',
  title: 'nf',
  params: 'n',
  comment: 'c',
  quote: 'c',
  doctag: 'sd',
  meta: 'cp',
  'template-tag': 'cp',
  'meta.prompt': 'gp',
  section: 'gh',
  name: 'nt',
  'selector-tag': 'nt',
  'selector-id': 'nn',
  'selector-class': 'nc',
  'selector-attr': 'nd',
  'selector-pseudo': 'nd',
  addition: 'gi',
  deletion: 'gd',
  emphasis: 'ge',
  strong: 'gs',
  link: 'sx',
  code: 'sx',
  bullet: 'p',
  formula: 's',
};

/** Collects highlight.js tokens as flat spans, the only form that clients support. */
class FlatSpans implements Emitter {
  private html = '';
  private scopes: (string | undefined)[] = [];

  startScope(scope: string): void {
    this.scopes.push(scope);
  }

  endScope(): void {
    this.scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    if (text === '') return;
    const scope = this.scopes.at(-1);
    const className = scope && (CLASSES[scope] ?? CLASSES[scope.split('.')[0]!]);
    this.html += className ? `<span class="${className}">${escapeCode(text)}</span>` : escapeCode(text);
  }

  __addSublanguage(emitter: Emitter): void {
    this.html += emitter.toHTML();
  }

  finalize(): void {}

  toHTML(): string {
    return this.html;
  }
}

const highlighter = lazily((require) => {
  const hljs = (require('highlight.js/lib/core') as HLJSApi).newInstance();
  hljs.configure({ __emitter: FlatSpans } as never);
  const register = (grammar: string) => {
    if (hljs.getLanguage(grammar)) return;
    hljs.registerLanguage(grammar, require(`highlight.js/lib/languages/${grammar}`) as LanguageFn);
    // Templates and markup embed other languages.
    for (const inner of EMBEDDED[grammar] ?? []) register(inner);
    // Grammars compile on first use; done here so that it does not count against a time limit.
    hljs.highlight('', { language: grammar });
  };
  return { hljs, register };
});

const EMBEDDED: Readonly<Record<string, readonly string[]>> = {
  xml: ['css', 'javascript'],
  'php-template': ['xml', 'php'],
  erb: ['xml', 'ruby'],
  django: ['xml'],
  markdown: ['xml'],
  haml: ['ruby'],
  'python-repl': ['python'],
  shell: ['bash'],
};

/** Maximum steps of the link patterns of Markdown; a million takes a fifth of a millisecond. */
const MAX_LINK_STEPS = 50_000_000;

/** True for Markdown in which link patterns try too many combinations of two brackets and the rest of the line. */
function hasTooManyLinks({ source, grammar }: CodeJob): boolean {
  if (grammar !== 'markdown') return false;
  const steps = (line: string) => (line.split('[').length - 1) ** 2 * line.length;
  return source.split('\n').reduce((sum, line) => sum + steps(line), 0) > MAX_LINK_STEPS;
}

/** Returns escaped code with tokens in spans. */
export function highlight(job: CodeJob, watchdog: Watchdog): TypesettingResult {
  if (hasTooManyLinks(job)) return null;
  const { source, grammar } = job;
  try {
    const { hljs, register } = highlighter();
    register(grammar);
    const work = () => hljs.highlight(source, { language: grammar, ignoreIllegals: true }).value;
    return watchdog.run(work, Number.POSITIVE_INFINITY);
  } catch {
    return null;
  }
}

/** Simple formulas of this total length take a tenth of a second. */
const UNWATCHED_CHARACTERS = 1000;

/** Executes jobs on the calling thread within the time and space limits. */
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
