import { Element } from '../html/html.js';
import type { InlineRule } from './rule.js';

interface Run {
  readonly start: number;
  readonly length: number;
}

/**
 * Code between backtick runs of equal length. Excess backticks of a longer opening run belong to the code. An odd
 * number of backslashes before the run disables it; an even number is halved and the code remains.
 */
export const codeSpans: InlineRule = (text, { stash, work }) => {
  if (!text.includes('`')) return text;
  const closings = new Map<number, Run[]>();
  const runs: Run[] = [];
  for (const match of text.matchAll(/`+/g)) {
    const run = { start: match.index, length: match[0].length };
    runs.push(run);
    const sameLength = closings.get(run.length);
    if (sameLength) sameLength.push(run);
    else closings.set(run.length, [run]);
  }
  /** Number of runs already passed, by length. */
  const passed = new Map<number, number>();
  const nextRun = (length: number, after: number): Run | undefined => {
    const candidates = closings.get(length);
    if (!candidates) return undefined;
    let i = passed.get(length) ?? 0;
    while (i < candidates.length && candidates[i]!.start < after) i++;
    work.spend(i - (passed.get(length) ?? 0));
    passed.set(length, i);
    return candidates[i];
  };

  let result = '';
  let done = 0;
  for (const run of runs) {
    if (run.start < done) continue;
    const backslashes = countBackslashes(text, run.start, done);
    const isEscaped = backslashes % 2 === 1;
    if (backslashes > 0 && !isEscaped) {
      result += text.slice(done, run.start - backslashes) + stash('\\'.repeat(backslashes / 2));
      done = run.start;
    }
    // The backslash disables only the first backtick.
    const start = isEscaped ? run.start + 1 : run.start;
    const available = isEscaped ? run.length - 1 : run.length;
    for (let length = available; length > 0; length--) {
      work.spend(1);
      const closing = nextRun(length, run.start + run.length);
      if (!closing) continue;
      const code = new Element('code');
      code.text = text.slice(start + length, closing.start);
      code.isTextFinal = true;
      result += text.slice(done, start) + stash(code);
      done = closing.start + length;
      break;
    }
  }
  return result + text.slice(done);
};

function countBackslashes(text: string, before: number, notBefore: number): number {
  let start = before;
  while (start > notBefore && text[start - 1] === '\\') start--;
  return before - start;
}
