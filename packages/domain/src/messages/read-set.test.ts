import fc from 'fast-check';
import {
  affectedRanges,
  countRead,
  extendLatest,
  findFirstUnread,
  isOrdinalRead,
  markOrdinals,
  markRangeRead,
  type OrdinalRange,
  type ReadSegment,
  type ReadSetChange,
  unreadRanges,
  WINDOW_SIZE,
} from './read-set.js';

const LAST_ORDINAL = 2 * WINDOW_SIZE;

/** Storage that returns only requested segments, so that any wider access fails. */
class StoredSegments {
  private readonly byFirst = new Map<number, ReadSegment>();

  get all(): ReadSegment[] {
    return [...this.byFirst.values()].sort((a, b) => a.first - b.first);
  }

  overlapping(ranges: readonly OrdinalRange[]): ReadSegment[] {
    return this.all.filter((segment) =>
      ranges.some((range) => segment.first <= range.last && segment.last >= range.first),
    );
  }

  mark(ordinals: readonly number[], read: boolean): ReadSetChange {
    return this.apply(markOrdinals(this.overlapping(affectedRanges(ordinals)), ordinals, read));
  }

  markRange(range: OrdinalRange): ReadSetChange {
    const ends = affectedRanges([range.first, range.last]);
    const whole = { first: ends[0]!.first, last: ends.at(-1)!.last };
    return this.apply(markRangeRead(this.overlapping([whole]), range));
  }

  replace(segment: ReadSegment): void {
    this.byFirst.set(segment.first, segment);
  }

  private apply(change: ReadSetChange): ReadSetChange {
    for (const first of change.removed) {
      if (!this.byFirst.delete(first)) throw new Error(`no segment at ${first} to remove`);
    }
    for (const segment of change.added) {
      if (this.byFirst.has(segment.first)) throw new Error(`two segments at ${segment.first}`);
      this.byFirst.set(segment.first, segment);
    }
    return change;
  }
}

/** Produces the earlier format with 1,024 ordinals per window: bitmaps for more than 16 runs, and adjacent runs. */
function asBefore(read: ReadonlySet<number>): readonly ReadSegment[] {
  const segments: ReadSegment[] = [];
  for (let start = 1; start <= LAST_ORDINAL; start += 1024) {
    const bits = new Uint8Array(128);
    const runs: { first: number; last: number }[] = [];
    for (let each = start; each < start + 1024; each++) {
      if (!read.has(each)) continue;
      bits[(each - start) >> 3]! |= 1 << ((each - start) & 7);
      const run = runs.at(-1);
      if (run?.last === each - 1) run.last = each;
      else runs.push({ first: each, last: each });
    }
    if (runs.length > 16) {
      segments.push({ first: start, last: start + 1023, bits });
      continue;
    }
    for (const { first, last } of runs) {
      const previous = segments.at(-1);
      const goesOn = previous?.bits === null && previous.last + 1 === first;
      if (goesOn) segments[segments.length - 1] = { ...previous, last };
      else segments.push({ first, last, bits: null });
    }
  }
  return segments;
}

const ordinal = fc.integer({ min: 1, max: LAST_ORDINAL });
const range = fc.tuple(ordinal, ordinal).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }));
/** Simulates reading one of several interleaved topics. */
const everyNth = fc
  .record({ from: ordinal, step: fc.integer({ min: 2, max: 40 }), count: fc.integer({ min: 1, max: 200 }) })
  .map(({ from, step, count }) =>
    Array.from({ length: count }, (_, index) => from + index * step).filter((each) => each <= LAST_ORDINAL),
  );
const ordinals = fc.oneof(fc.array(ordinal, { minLength: 1, maxLength: 20 }), everyNth);
const step = fc.oneof(
  fc.record({ kind: fc.constant('read' as const), ordinals }),
  fc.record({ kind: fc.constant('unread' as const), ordinals }),
  fc.record({ kind: fc.constant('range' as const), range }),
);

function play(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): {
  stored: StoredSegments;
  expected: Set<number>;
} {
  const stored = new StoredSegments();
  const expected = new Set<number>();
  for (const each of steps) {
    if (each.kind === 'range') {
      stored.markRange(each.range);
      for (let n = each.range.first; n <= each.range.last; n++) expected.add(n);
    } else {
      stored.mark(each.ordinals, each.kind === 'read');
      for (const n of each.ordinals) each.kind === 'read' ? expected.add(n) : expected.delete(n);
    }
  }
  return { stored, expected };
}

describe('read set', () => {
  it.each([1, WINDOW_SIZE - 1, WINDOW_SIZE, WINDOW_SIZE + 1, LAST_ORDINAL])('marks ordinal %d alone', (alone) => {
    const stored = new StoredSegments();
    stored.mark([alone], true);
    expect(stored.all).toEqual([{ first: alone, last: alone, bits: null }]);
    stored.mark([alone - 1, alone, alone + 1].filter(Boolean), true);
    stored.mark([alone], false);
    expect([alone - 1, alone, alone + 1].map((each) => isOrdinalRead(stored.all, each))).toEqual([
      ...[alone > 1, false, true],
    ]);
  });

  it('behaves like a plain set of ordinals', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { stored, expected } = play(steps);
        const { all } = stored;
        const held = [];
        for (let n = 1; n <= LAST_ORDINAL + 1; n++) if (isOrdinalRead(all, n)) held.push(n);
        // Compared as text, since comparing thousands of numbers is much slower.
        expect(held.join()).toBe([...expected].sort((a, b) => a - b).join());
      }),
      { numRuns: 40 },
    );
  });

  it('yields maximal unread ranges in both directions and counts read ordinals', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), range, (steps, within) => {
        const { stored, expected } = play(steps);
        const gaps: OrdinalRange[] = [];
        for (let n = within.first; n <= within.last; n++) {
          if (expected.has(n)) continue;
          const previous = gaps.at(-1);
          if (previous?.last === n - 1) gaps[gaps.length - 1] = { first: previous.first, last: n };
          else gaps.push({ first: n, last: n });
        }
        const unread = gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0);
        expect(countRead(stored.all, within)).toBe(within.last - within.first + 1 - unread);
        expect(findFirstUnread(stored.all, within)).toBe(gaps[0]?.first ?? null);
        expect([...unreadRanges(stored.all, within, 'start')]).toEqual(gaps);
        expect([...unreadRanges(stored.all.reverse(), within, 'end')]).toEqual(gaps.reverse());
      }),
    );
  });

  it('has one canonical form independent of the order of changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
        const { stored, expected } = play(steps);
        const atOnce = new StoredSegments();
        if (expected.size > 0) atOnce.mark([...expected], true);
        expect(stored.all).toEqual(atOnce.all);
      }),
    );
  });

  it('has few segments per window and no adjacent runs', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
        const segments = play(steps).stored.all;
        expect(segments.length).toBeLessThanOrEqual((LAST_ORDINAL / WINDOW_SIZE) * 32);
        segments.slice(1).forEach((segment, index) => {
          const previous = segments[index]!;
          expect(segment.first).toBeGreaterThan(previous.last);
          if (!previous.bits && !segment.bits) expect(segment.first).toBeGreaterThan(previous.last + 1);
        });
      }),
    );
  });

  it('extends a single run if ordinals are read in order', () => {
    const stored = new StoredSegments();
    for (let n = 1; n <= 2000; n++) {
      const change = stored.mark([n], true);
      expect(change.removed.length + change.added.length).toBeLessThanOrEqual(2);
    }
    expect(stored.all).toEqual([{ first: 1, last: 2000, bits: null }]);
  });

  it('has the same result when extended ordinal by ordinal', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 150 }), (steps) => {
        const stored = new StoredSegments();
        const quick = new StoredSegments();
        let newest = 0;
        for (const step of steps) {
          newest += step;
          const latest = quick.all.at(-1);
          const extended = latest && extendLatest(latest, newest);
          if (extended) quick.replace(extended);
          else quick.mark([newest], true);
          stored.mark([newest], true);
        }
        expect(quick.all).toEqual(stored.all);
      }),
    );
  });

  it('touches only segments around a change in a long history', () => {
    const stored = new StoredSegments();
    for (let n = 1; n <= 400_000; n += 500) stored.markRange({ first: n, last: n + 250 });
    const change = stored.mark([200_300], true);
    expect(change).toMatchObject({ removed: [], added: [{ first: 200_300, last: 200_300, bits: null }] });
  });

  it('converts a window with many runs to a bitmap and back', () => {
    const stored = new StoredSegments();
    const every20th = Array.from({ length: 51 }, (_, index) => 1 + index * 20);
    stored.mark(every20th, true);
    expect(stored.all).toMatchObject([{ first: 1, last: WINDOW_SIZE, bits: expect.any(Uint8Array) }]);
    stored.markRange({ first: 1, last: WINDOW_SIZE });
    expect(stored.all).toEqual([{ first: 1, last: WINDOW_SIZE, bits: null }]);
  });

  it('continues with the smaller bitmaps of earlier versions', () => {
    const stored = new StoredSegments();
    const bits = new Uint8Array(128).fill(0b10101010);
    stored.replace({ first: 1, last: 40, bits: null });
    for (const first of [1025, 2049, WINDOW_SIZE + 1]) stored.replace({ first, last: first + 1023, bits });
    const readBefore = stored.all
      .flatMap((segment) => Array.from({ length: segment.last - segment.first + 1 }, (_, n) => segment.first + n))
      .filter((n) => isOrdinalRead(stored.all, n));

    stored.mark([500], true);

    const anew = new StoredSegments();
    anew.mark([...readBefore.filter((n) => n <= WINDOW_SIZE), 500], true);
    const untouched = { first: WINDOW_SIZE + 1, last: WINDOW_SIZE + 1024, bits };
    expect(stored.all).toEqual([...anew.all, untouched]);
  });

  it('stays correct for segments stored by earlier versions', () => {
    const stretch = fc
      .tuple(ordinal, fc.integer({ min: 1, max: 2500 }), fc.integer({ min: 1, max: 6 }), fc.boolean())
      .map(([first, length, step, read]) => ({
        ordinals: Array.from({ length: Math.ceil(length / step) }, (_, n) => first + n * step).filter(
          (each) => each <= LAST_ORDINAL,
        ),
        read,
      }));
    const steps = fc.array(fc.oneof(stretch, range), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(stretch, { maxLength: 5 }), steps, (before, after) => {
        const plain = new Set<number>();
        const change = (ordinals: readonly number[], read: boolean) => {
          for (const each of ordinals)
            if (read) plain.add(each);
            else plain.delete(each);
        };
        for (const { ordinals, read } of before) change(ordinals, read);
        const stored = new StoredSegments();
        for (const segment of asBefore(plain)) stored.replace(segment);
        for (const step of after) {
          if ('ordinals' in step) {
            change(step.ordinals, step.read);
            stored.mark(step.ordinals, step.read);
          } else {
            change(
              Array.from({ length: step.last - step.first + 1 }, (_, n) => step.first + n),
              true,
            );
            stored.markRange(step);
          }
        }
        const { all } = stored;
        for (let each = 1; each <= LAST_ORDINAL; each++) {
          if (isOrdinalRead(all, each) !== plain.has(each)) throw new Error(`${each} is not what it should be`);
        }
        const gaps = [...unreadRanges(all, { first: 1, last: LAST_ORDINAL }, 'start')];
        expect(gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0)).toBe(LAST_ORDINAL - plain.size);
        expect([...unreadRanges(all.toReversed(), { first: 1, last: LAST_ORDINAL }, 'end')].reverse()).toEqual(gaps);
      }),
      { numRuns: 25 },
    );
  });

  it('changes nothing if the state is already as requested', () => {
    const stored = new StoredSegments();
    stored.mark([3, 5, 7], true);
    expect(stored.mark([5], true)).toMatchObject({ removed: [], added: [] });
    expect(stored.mark([4], false)).toMatchObject({ removed: [], added: [] });
    expect(stored.markRange({ first: 5, last: 5 })).toMatchObject({ removed: [], added: [] });
  });
});
