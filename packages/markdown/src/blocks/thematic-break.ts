const MARKS = new Set(['-', '_', '*']);
const MAX_INDENT = 3;
const MAX_GAP = 2;

/** The first line of three or more equal marks, a little apart at most, and nothing else; its ends, or null. */
export function findThematicBreak(block: string): { readonly start: number; readonly end: number } | null {
  for (let start = 0; start < block.length; ) {
    const newline = block.indexOf('\n', start);
    const end = newline === -1 ? block.length : newline;
    if (isThematicBreak(block, start, end)) return { start, end };
    start = end + 1;
  }
  return null;
}

function isThematicBreak(block: string, start: number, end: number): boolean {
  let at = start;
  while (at < start + MAX_INDENT && block[at] === ' ') at++;
  const mark = block[at]!;
  if (at >= end || !MARKS.has(mark)) return false;
  let marks = 0;
  let gap = 0;
  for (; at < end; at++) {
    if (block[at] === ' ') gap++;
    else if (block[at] !== mark || gap > MAX_GAP) return false;
    else {
      marks++;
      gap = 0;
    }
  }
  return marks >= 3;
}
