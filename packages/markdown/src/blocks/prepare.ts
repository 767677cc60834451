import { FENCE } from './fences.js';

const LIST_ITEM = /^[ ]*([*+-]|\p{Nd}\.)[ ]+/u;
const TAB_WIDTH = 4;

/**
 * A list needs no blank line before it: one is put before an item that directly follows other text, and between items of
 * different kinds. Not inside code, of course. The reference decides what code is by counting fences, without telling
 * those that are themselves code, and clients have learned to expect the outcome.
 */
export function separateLists(lines: readonly string[]): readonly string[] {
  if (!lines.some((line) => LIST_ITEM.test(line))) return lines;
  const result: string[] = [];
  const openFences: { fence: string; isCode: boolean }[] = [];
  let openCode = 0;
  let item: RegExpExecArray | null = LIST_ITEM.exec(lines[0]!);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    result.push(line);
    if (i === lines.length - 1) break;
    const match = FENCE.exec(line);
    if (match) {
      const { fence, language } = match.groups as { fence: string; language?: string };
      if (!language && openFences.at(-1)?.fence === fence) {
        if (openFences.pop()!.isCode) openCode--;
      } else {
        const isCode = language !== 'quote' && language !== 'quoted';
        openFences.push({ fence, isCode });
        if (isCode) openCode++;
      }
    }
    const nextItem = LIST_ITEM.exec(lines[i + 1]!);
    const startsList = nextItem !== null && (item === null || (item[1]!.length === 1) !== (nextItem[1]!.length === 1));
    if (startsList && line !== '' && openCode === 0) result.push('');
    item = nextItem;
  }
  return result;
}

/** One kind of line end, no tabs, no control characters that stand for placeholders, blank lines empty. */
export function normalizeWhiteSpace(lines: readonly string[]): string[] {
  let text = `${lines.join('\n')}\n\n`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text = text.replace(/[\u0002\u0003]/g, '').replace(/\r\n?/g, '\n');
  const normalized = text.split('\n').map((line) => (line.includes('\t') ? expandTabs(line) : line));
  for (let i = 1; i < normalized.length - 1; i++) {
    if (normalized[i]![0] === ' ' && /^ +$/.test(normalized[i]!)) normalized[i] = '';
  }
  return normalized;
}

function expandTabs(line: string): string {
  let column = 0;
  let expanded = '';
  for (const character of line) {
    const width = character === '\t' ? TAB_WIDTH - (column % TAB_WIDTH) : 1;
    expanded += character === '\t' ? ' '.repeat(width) : character;
    column += width;
  }
  return expanded;
}
