import type { Emitter, HLJSApi, LanguageFn } from 'highlight.js';
import { escapeCode } from '../html/escape.js';
import { lazily } from '../lazy.js';
import type { CodeJob, TypesettingResult } from './job.js';
import type { Watchdog } from './watchdog.js';

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
