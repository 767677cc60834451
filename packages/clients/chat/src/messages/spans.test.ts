import fc from 'fast-check';
import { type Span, spanAt, withMessage, withoutMessages, withPage } from './spans.js';

/** Ids of all server messages. */
const ALL = Array.from({ length: 30 }, (_, i) => (i + 1) * 10);

/** Simulates a server page. */
function pageOf(from: number, to: number) {
  const ids = ALL.slice(from, to);
  return { ids, isOldest: from === 0, isNewest: to >= ALL.length, from: ids[0]!, to: ids.at(-1)! };
}

const ranges = fc
  .tuple(fc.nat(ALL.length - 1), fc.integer({ min: 1, max: 8 }))
  .map(([from, length]) => pageOf(from, Math.min(ALL.length, from + length)));

/** True if a span contains every server message between its ends. */
const isComplete = ({ ids, isOldest, isNewest }: Span): boolean => {
  const first = isOldest ? 0 : ALL.indexOf(ids[0]!);
  const last = isNewest ? ALL.length - 1 : ALL.indexOf(ids.at(-1)!);
  return JSON.stringify(ids) === JSON.stringify(ALL.slice(first, last + 1));
};

describe('span list', () => {
  it('keeps spans complete and separate after any sequence of pages', () => {
    fc.assert(
      fc.property(fc.array(ranges, { maxLength: 12 }), (pages) => {
        const spans = pages.reduce(withPage, [] as readonly Span[]);
        expect(spans.every(isComplete)).toBe(true);
        const ids = spans.flatMap((span) => span.ids);
        expect(ids).toEqual([...new Set(pages.flatMap((page) => page.ids))].sort((a, b) => a - b));
      }),
    );
  });

  it('joins spans that a page connects', () => {
    const older = { ...pageOf(5, 8), to: ALL[8]! };
    expect(withPage(withPage([], pageOf(8, 12)), older)).toEqual([
      { ids: ALL.slice(5, 12), isOldest: false, isNewest: false },
    ]);
  });

  it('adds a new message only to the span that reaches the present', () => {
    const spans = withPage(withPage([], pageOf(0, 3)), pageOf(27, 30));
    expect(withMessage(spans, 301)).toEqual([spans[0], { ...spans[1], ids: [...spans[1]!.ids, 301] }]);
    expect(withMessage([spans[0]!], 301)).toEqual([spans[0]]);
    expect(withMessage(spans, 15)[0]!.ids).toEqual([10, 15, 20, 30]);
    expect(withMessage(spans, 20)).toEqual(spans);
  });

  it('drops deleted messages', () => {
    const spans = withPage([], pageOf(0, 3));
    expect(withoutMessages(spans, new Set([20, 99]))).toEqual([{ ...spans[0], ids: [10, 30] }]);
  });

  it('detects whether a message lies in a gap', () => {
    const spans = withPage(withPage([], pageOf(0, 3)), pageOf(27, 30));
    expect([5, 25, 100, 285, 999].map((id) => spanAt(spans, id)?.ids[0])).toEqual([10, 10, undefined, 280, 280]);
  });
});
