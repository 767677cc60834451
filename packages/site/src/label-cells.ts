/** Token of markdown-it. */
interface Token {
  readonly type: string;
  readonly content: string;
  attrSet(name: string, value: string): void;
}

/** Part of markdown-it that a core rule needs. */
interface Markdown {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: { readonly tokens: readonly Token[] }) => void): void };
  };
}

/** Gives each cell of a table the heading of its column as `data-label`, which narrow pages show next to the cell. */
export function labelCells(markdown: Markdown): void {
  markdown.core.ruler.push('label-cells', ({ tokens }) => {
    let headings: string[] = [];
    let column = 0;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'table_open') headings = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'th_open') headings.push(tokens[index + 1]!.content.replace(/[`*]/g, ''));
      if (token.type === 'td_open') token.attrSet('data-label', headings[column++]!);
    }
  });
}
