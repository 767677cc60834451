import { MAX_QUOTE_DEPTH, unrenderable } from '../bounds.js';
import { trimCharacter, trimEnd } from '../characters.js';
import { codeBlock } from '../code/code-block.js';
import type { HtmlStash } from '../html/stash.js';
import { displayMath } from '../inline/math.js';
import type { Typesetting } from '../typesetting/typesetting.js';
import type { WorkBudget } from '../work-budget.js';

/**
 * An opening fence. `+-.` is a range of characters, comma included: the reference's slip, which texts rely on by now. What
 * may follow is looked for first, since otherwise its parts would be tried in every combination.
 */
export const FENCE =
  /^(?<fence>~{3,}|`{3,})(?=[^~`]*$)[ ]*(?:\{?\.?(?<language>[a-zA-Z0-9_+-./#]+)[ ]*(?<header>[^ ~`][^~`]*)?\}?)?$/;

/** A fenced block that is still open. */
interface OpenBlock {
  readonly fence: string;
  readonly lines: string[];
  /** Whether its lines are Markdown, and may open further fences. */
  readonly holdsMarkdown: boolean;
  readonly defaultLanguage: string;
  readonly finish: (lines: readonly string[]) => string | null;
}

/**
 * Finds the fenced blocks. What they hold is rendered here and now, or turned into the plainer form that the block rules
 * know: a quote into lines that begin with `> `. The rest of the pipeline sees placeholders only, each a block of its own.
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
    // Each quote makes every line longer, and those around it go over it again.
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
