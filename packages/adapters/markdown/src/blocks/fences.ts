import { MAX_QUOTE_DEPTH, unrenderable, type WorkBudget } from '../budgets.js';
import { trimCharacter, trimEnd } from '../characters.js';
import { escapeAttribute, escapeCode, type HtmlStash } from '../html/html.js';
import { displayMath } from '../inline/formulas.js';
import type { CodeJob } from '../typesetting/typeset.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import { findLanguage } from './languages.js';

/** Matches `#!/usr/bin/python`; `#!python` has no path. */
const SHEBANG = /^#!(?<path>(?:\/\w+)*[/ ])?(?<word>[\w#.+-]*)/;

/** Returns a function that writes the block once its tokens are known. */
export function codeBlock(text: string, word: string, typesetting: Typesetting): () => string {
  const code = trimCharacter(text, '\n');
  if (word === '') return markup(code, SHEBANG.exec(code)?.groups?.word ?? '', '', typesetting);
  const name = findLanguage(word)?.name ?? word;
  return markup(code, word, ` data-code-language="${escapeAttribute(name)}"`, typesetting);
}

/** Hides a first line `#!lang` without a path, which only selects the language, as the reference server does. */
export function indentedCodeBlock(text: string, typesetting: Typesetting): () => string {
  let code = trimCharacter(text, '\n');
  const shebang = SHEBANG.exec(code)?.groups;
  if (shebang && !shebang.path) code = trimCharacter(code.replace(/^.*(?:\n|$)/, ''), '\n');
  const write = markup(code, shebang?.word ?? '', '', typesetting);
  return () => `${write()}\n`;
}

function markup(source: string, word: string, attribute: string, typesetting: Typesetting): () => string {
  const grammar = findLanguage(word.toLowerCase())?.grammar ?? null;
  const job: CodeJob | null = grammar === null || source === '' ? null : { kind: 'code', source, grammar };
  if (job) typesetting.request(job);
  return () => {
    const html = (job && typesetting.resultOf(job)) ?? escapeCode(source);
    return `<div class="codehilite"${attribute}><pre><span></span><code>${html}\n</code></pre></div>`;
  };
}

/**
 * Opening fence. Deliberate: `+-.` is a range that includes the comma, as in the reference server, and texts rely on
 * it. The lookahead prevents trying all combinations of the following parts.
 */
export const FENCE =
  /^(?<fence>~{3,}|`{3,})(?=[^~`]*$)[ ]*(?:\{?\.?(?<language>[a-zA-Z0-9_+-./#]+)[ ]*(?<header>[^ ~`][^~`]*)?\}?)?$/;

/** Fenced block that is still open. */
interface OpenBlock {
  readonly fence: string;
  readonly lines: string[];
  /** True if its lines are Markdown and may contain further fences. */
  readonly holdsMarkdown: boolean;
  readonly defaultLanguage: string;
  readonly finish: (lines: readonly string[]) => string | null;
}

/**
 * Finds fenced blocks. Their content is rendered immediately or converted to a simpler form known to the block rules:
 * a quote becomes lines that start with `> `. Later phases see only placeholders, each a separate block.
 */
export class FenceReader {
  private open: OpenBlock[] = [];

  constructor(
    private readonly stash: HtmlStash,
    private readonly typesetting: Typesetting,
    private readonly work: WorkBudget,
  ) {}

  read(lines: readonly string[], defaultLanguage: string): readonly string[] {
    if (!lines.some((line) => line.startsWith('```') || line.startsWith('~~~'))) return lines;
    const output: string[] = [];
    this.open = [{ fence: '', lines: output, holdsMarkdown: true, defaultLanguage, finish: () => null }];
    for (const line of lines) this.readLine(line);
    while (this.open.length > 1) {
      this.close();
      if (this.open.length === 1) output.push('');
    }
    return output;
  }

  private readLine(line: string): void {
    const current = this.open.at(-1)!;
    if (this.open.length > 1 && trimEnd(line) === current.fence) this.close();
    else if (!current.holdsMarkdown) current.lines.push(trimEnd(line));
    else {
      const match = FENCE.exec(line);
      if (match) this.start(match.groups!, current.defaultLanguage);
      else current.lines.push(line);
    }
  }

  private start(groups: Record<string, string | undefined>, defaultLanguage: string): void {
    if (this.open.length > MAX_QUOTE_DEPTH) throw unrenderable();
    const fence = groups.fence!;
    const language = (groups.language ?? defaultLanguage).toLowerCase();
    if (language === 'quote' || language === 'quoted') {
      this.open.push({ fence, lines: [], holdsMarkdown: true, defaultLanguage, finish: quote });
    } else if (language === 'spoiler') {
      const finish = (lines: readonly string[]) => this.spoiler(groups.header ?? '', lines);
      this.open.push({ fence, lines: [], holdsMarkdown: true, defaultLanguage: '', finish });
    } else {
      const finish = (lines: readonly string[]) => {
        const text = trimCharacter(lines.join('\n'), '\n');
        const write =
          language === 'math' ? displayMath(text, this.typesetting) : codeBlock(text, language, this.typesetting);
        return write ? this.stash.addLater(write) : '';
      };
      this.open.push({ fence, lines: [], holdsMarkdown: false, defaultLanguage: '', finish });
    }
  }

  private close(): void {
    const { finish, lines } = this.open.pop()!;
    const text = finish(lines);
    // Each nested quote lengthens every line, and enclosing quotes scan the lines again.
    this.work.spend(text?.length ?? 0);
    if (text !== null) this.open.at(-1)!.lines.push('', text, '');
  }

  private spoiler(header: string, lines: readonly string[]): string | null {
    if (lines.length === 0) return null;
    return [
      this.stash.add('<div class="spoiler-block"><div class="spoiler-header">', ''),
      header,
      this.stash.add('</div><div class="spoiler-content" aria-hidden="true">', ''),
      lines.join('\n'),
      this.stash.add('</div></div>', ''),
    ].join('\n\n');
  }
}

function quote(lines: readonly string[]): string {
  return lines
    .join('\n')
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
