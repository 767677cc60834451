interface Run {
  readonly isQuote: boolean;
  /** Lines without the line break at their end. */
  readonly text: string;
}

const FENCE = /^(`{3,}|~{3,})\s*(\S*)\s*$/;
const QUOTED = /^ {0,3}>/;

/** Splits a message into successive lines that are quoted and that are not. */
export function quotesIn(text: string): readonly Run[] {
  const runs: { isQuote: boolean; text: string }[] = [];
  /** Open blocks, outermost first. */
  const open: { readonly fence: string; readonly isQuote: boolean }[] = [];
  for (const line of text.split('\n')) {
    const [, fence, language] = FENCE.exec(line) ?? [];
    const block = open.at(-1);
    const isWithin = block?.isQuote === true;
    const isCode = block?.isQuote === false;
    if (fence !== undefined && language === '' && fence === block?.fence) open.pop();
    else if (fence !== undefined && !isCode) open.push({ fence, isQuote: language === 'quote' });
    const isQuote = isWithin || open.some((each) => each.isQuote) || (!isCode && QUOTED.test(line));
    const last = runs.at(-1);
    if (last?.isQuote === isQuote) last.text += `\n${line}`;
    else runs.push({ isQuote, text: line });
  }
  return runs;
}
