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
 * Gives so much time altogether for work of libraries that nobody can bound from the outside: grammars made of
 * backtracking patterns, macros that expand, the patterns of administrators. Watching costs a tenth of a millisecond and
 * makes the outcome depend on the machine, so work known to be little is not watched.
 */
export class Watchdog {
  /**
   * @param steps How much unwatched work there may be altogether, in whatever its callers count it in.
   * @param stepsAtOnce So little work is never watched: it only takes of the time, once the steps are used up.
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
   * @param steps What the work takes at most; infinite when nobody knows.
   * @throws when the work fails, or has not finished in time.
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

/** What only a library can make HTML of. */
export type TypesettingJob = CodeJob | FormulaJob;

/** Code in a language that there is a grammar for. */
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

/** HTML; null for a formula that is none, and for whatever was not done in time. */
export type TypesettingResult = string | null;

/** Does the jobs of one text; the results are in their order. Never fails. */
export interface Typesetter {
  typeset(jobs: readonly TypesettingJob[]): Promise<readonly TypesettingResult[]>;
  close(): Promise<void>;
}

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

/** Scopes of highlight.js, and the classes of the reference's highlighter that clients know. The innermost scope wins. */
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

/** Collects what highlight.js finds as flat spans: clients understand no others. */
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
    // Templates and mark-up hold other languages.
    for (const inner of EMBEDDED[grammar] ?? []) register(inner);
    // Grammars are compiled at their first use, which should not be taken from somebody's time.
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

/** Escaped code, its tokens in spans. */
export function highlight({ source, grammar }: CodeJob, watchdog: Watchdog): TypesettingResult {
  try {
    const { hljs, register } = highlighter();
    register(grammar);
    const work = () => hljs.highlight(source, { language: grammar, ignoreIllegals: true }).value;
    return watchdog.run(work, Number.POSITIVE_INFINITY);
  } catch {
    return null;
  }
}

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
