import type { Ordinal } from '../kernel/ids.js';

// Bits by position: bit `n & 7` of byte `n >> 3`.

const ONES_IN_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Positions from one to another, both included. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

export const hasBit = (bits: Uint8Array, position: number): boolean =>
  ((bits[position >> 3]! >> (position & 7)) & 1) === 1;

/** Of bitmaps of one length. */
export function sameBits(a: Uint8Array, b: Uint8Array): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Sets every bit from one position to another, both included; none where the last is before the first. */
export function setRun(bits: Uint8Array, first: number, last: number): void {
  let position = first;
  while (position <= last) {
    if ((position & 7) === 0 && position + 7 <= last) {
      bits[position >> 3] = 0xff;
      position += 8;
    } else {
      bits[position >> 3]! |= 1 << (position & 7);
      position++;
    }
  }
}

/** How many bits are set from one position to another, both included. */
export function countBits(bits: Uint8Array, first: number, last: number): number {
  let count = 0;
  for (let index = first >> 3; index <= last >> 3; index++) {
    let byte = bits[index]!;
    if (index === first >> 3) byte &= 0xff << (first & 7);
    if (index === last >> 3) byte &= 0xff >> (7 - (last & 7));
    count += ONES_IN_BYTE[byte]!;
  }
  return count;
}

/** Whether there are more unbroken runs of bits than so many. */
export function hasMoreRunsThan(most: number, bits: Uint8Array): boolean {
  let count = 0;
  let previous = 0;
  for (let index = 0; index < bits.length && count <= most; index++) {
    const byte = bits[index]!;
    // A run begins at each bit that is set after one that is not.
    count += ONES_IN_BYTE[byte & ~((byte << 1) | (previous >> 7))]!;
    previous = byte;
  }
  return count > most;
}

/** Unbroken runs of bits, ascending, as far as they lie from one position to another. */
export function* runs(bits: Uint8Array, first: number, last: number): Generator<Run> {
  for (let from = nextBit(bits, first, last, true); from <= last; ) {
    const end = nextBit(bits, from, last, false);
    yield { first: from, last: end - 1 };
    from = nextBit(bits, end, last, true);
  }
}

/** The same, descending. */
export function* runsDown(bits: Uint8Array, first: number, last: number): Generator<Run> {
  for (let end = previousBit(bits, last, first, true); end >= first; ) {
    const from = previousBit(bits, end, first, false);
    yield { first: from + 1, last: end };
    end = previousBit(bits, from, first, true);
  }
}

/** The first position from one to another, both included, with that bit; `last + 1` when there is none. */
export function nextBit(bits: Uint8Array, first: number, last: number, bit: boolean): number {
  const byteWithout = bit ? 0 : 0xff;
  let position = first;
  while (position <= last) {
    if ((position & 7) === 0 && bits[position >> 3] === byteWithout) position += 8;
    else if (hasBit(bits, position) === bit) return position;
    else position++;
  }
  return last + 1;
}

/** The same downwards; `first - 1` when there is none. */
function previousBit(bits: Uint8Array, last: number, first: number, bit: boolean): number {
  const byteWithout = bit ? 0 : 0xff;
  let position = last;
  while (position >= first) {
    if ((position & 7) === 7 && bits[position >> 3] === byteWithout) position -= 8;
    else if (hasBit(bits, position) === bit) return position;
    else position--;
  }
  return first - 1;
}

/**
 * Which of the messages sent to a recipient somebody has read, as a set of ordinals. It is kept in few and small pieces
 * whatever the length of the history, and a change touches only the pieces around it.
 *
 * A piece is a run, every ordinal from `first` to `last`; or a bitmap of one window, where runs would be many: one topic
 * read out of twenty interleaved ones.
 */
export interface ReadSegment {
  readonly first: Ordinal;
  readonly last: Ordinal;
  /**
   * Null: all of them are read. Else bit `n & 7` of byte `n >> 3` says whether `first + n` is. Of one window exactly; what
   * was written when windows were smaller has bitmaps of whole bytes of one.
   */
  readonly bits: Uint8Array | null;
}

/** An unbroken range of ordinals, both ends included. */
export interface OrdinalRange {
  readonly first: Ordinal;
  readonly last: Ordinal;
}

/** What to do to the stored segments, deletions first. */
export interface ReadSetChange {
  /** The `first` of each segment that goes; ascending. */
  readonly removed: readonly Ordinal[];
  /** Ascending; their `first` may be one of those removed. */
  readonly added: readonly ReadSegment[];
  /** What becomes of the stored segments that were handed in; ascending. */
  readonly result: readonly ReadSegment[];
}

/** Ordinals a window holds: 1…4096, 4097…8192 and so on. A larger bitmap would not fit into a row without overflow pages. */
export const WINDOW_SIZE = 4096;
const WINDOW_BYTES = WINDOW_SIZE / 8;
/** A bitmap takes the place of about this many stored runs. */
const MAX_RUNS_IN_WINDOW = 32;

const windowOf = (ordinal: Ordinal): number => Math.floor((ordinal - 1) / WINDOW_SIZE);
const windowStart = (window: number): Ordinal => window * WINDOW_SIZE + 1;
const windowEnd = (window: number): Ordinal => (window + 1) * WINDOW_SIZE;
const isInWindow = (window: number, ordinal: Ordinal): boolean =>
  windowStart(window) <= ordinal && ordinal <= windowEnd(window);
const NO_BITS = new Uint8Array();

/**
 * The segments a change of these ordinals has to know: those that overlap one of the ranges answered. They are ascending
 * and disjoint; ordinals may come in any order.
 */
export function affectedRanges(ordinals: readonly Ordinal[]): readonly OrdinalRange[] {
  const windows = new Set<number>();
  let window = -1;
  for (const ordinal of ordinals) {
    // Mostly that of the one before.
    if (isInWindow(window, ordinal)) continue;
    window = windowOf(ordinal);
    windows.add(window);
  }
  const ranges: { first: Ordinal; last: Ordinal }[] = [];
  for (const window of [...windows].sort((a, b) => a - b)) {
    // One more at either side, where a run may go on.
    const first = windowStart(window) - 1;
    const last = windowEnd(window) + 1;
    const previous = ranges.at(-1);
    if (previous && previous.last >= first) previous.last = last;
    else ranges.push({ first, last });
  }
  return ranges;
}

/**
 * Marks ordinals read or unread. `stored` are the segments overlapping their `affectedRanges`, ascending. The same set is
 * always the same segments, whatever the changes it came from.
 */
export function markOrdinals(
  stored: readonly ReadSegment[],
  ordinals: readonly Ordinal[],
  read: boolean,
): ReadSetChange {
  const windows = new Map<number, Uint8Array>();
  let first: Ordinal = 0;
  let bits: Uint8Array = NO_BITS;
  for (const ordinal of ordinals) {
    let position = ordinal - first;
    // Mostly in the window of the one before.
    if (position < 0 || position >= bits.length << 3) {
      const window = windowOf(ordinal);
      bits = windows.get(window) ?? contentOf(stored, window);
      windows.set(window, bits);
      first = windowStart(window);
      position = ordinal - first;
    }
    if (read) bits[position >> 3]! |= 1 << (position & 7);
    else bits[position >> 3]! &= ~(1 << (position & 7));
  }
  return replaceWindows(stored, windows, null);
}

/**
 * What becomes of the last segment when the newest ordinal of all is read, in the two cases that need nothing else: it
 * goes on with a run, or lies in a bitmap. Null in any other.
 */
export function extendLatest(latest: ReadSegment, newest: Ordinal): ReadSegment | null {
  if (!latest.bits) return latest.last + 1 === newest ? { ...latest, last: newest } : null;
  if (newest > latest.last) return null;
  const bits = latest.bits.slice();
  const position = newest - latest.first;
  bits[position >> 3]! |= 1 << (position & 7);
  return { ...latest, bits };
}

/**
 * Marks every ordinal of a range read. `stored` are the segments overlapping the `affectedRanges` of both its ends, and all
 * that lie between; ascending.
 */
export function markRangeRead(stored: readonly ReadSegment[], range: OrdinalRange): ReadSetChange {
  const firstWindow = windowOf(range.first);
  const lastWindow = windowOf(range.last);
  const windows = new Map<number, Uint8Array>();
  for (const window of new Set([firstWindow, lastWindow])) {
    const bits = contentOf(stored, window);
    setBits(bits, window, range);
    windows.set(window, bits);
  }
  const between =
    lastWindow - firstWindow > 1 ? { first: windowEnd(firstWindow) + 1, last: windowStart(lastWindow) - 1 } : null;
  return replaceWindows(stored, windows, between);
}

/** `segments` are ascending, and hold at least those that overlap the ordinal. */
export function isOrdinalRead(segments: readonly ReadSegment[], ordinal: Ordinal): boolean {
  let low = 0;
  let high = segments.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const segment = segments[middle]!;
    if (ordinal < segment.first) high = middle - 1;
    else if (ordinal > segment.last) low = middle + 1;
    else return segment.bits === null || hasBit(segment.bits, ordinal - segment.first);
  }
  return false;
}

/** How many ordinals of a range are read. `segments` hold at least those that overlap it. */
export function countRead(segments: readonly ReadSegment[], range: OrdinalRange): number {
  let count = 0;
  for (const segment of segments) {
    const first = Math.max(segment.first, range.first);
    const last = Math.min(segment.last, range.last);
    if (first > last) continue;
    count += segment.bits ? countBits(segment.bits, first - segment.first, last - segment.first) : last - first + 1;
  }
  return count;
}

/** The first ordinal of a range that is not read. `segments` are ascending, and hold at least those that overlap it. */
export function findFirstUnread(segments: readonly ReadSegment[], range: OrdinalRange): Ordinal | null {
  let next = range.first;
  for (const { first, last, bits } of segments) {
    if (last < next) continue;
    if (first > next) break;
    next = bits ? first + nextBit(bits, next - first, last - first, false) : last + 1;
    if (next <= last) break;
  }
  return next <= range.last ? next : null;
}

/**
 * The unread ranges within `range`, from the end that `from` says; as long as possible. `segments` hold at least those
 * that overlap the range, and come in the order of the walk; they are asked for one at a time.
 */
export function* unreadRanges(
  segments: Iterable<ReadSegment>,
  range: OrdinalRange,
  from: 'start' | 'end',
): Generator<OrdinalRange> {
  const forward = from === 'start';
  // The first ordinal, in the direction of the walk, of which nothing is known yet.
  let next = forward ? range.first : range.last;
  for (const read of readRanges(segments, range, forward)) {
    if (forward) {
      if (next < read.first) yield { first: next, last: read.first - 1 };
      next = read.last + 1;
    } else {
      if (read.last < next) yield { first: read.last + 1, last: next };
      next = read.first - 1;
    }
  }
  if (forward ? next <= range.last : next >= range.first) {
    yield forward ? { first: next, last: range.last } : { first: range.first, last: next };
  }
}

/** Neighbouring answers may touch each other. */
function* readRanges(segments: Iterable<ReadSegment>, range: OrdinalRange, forward: boolean): Generator<OrdinalRange> {
  for (const segment of segments) {
    const first = Math.max(segment.first, range.first);
    const last = Math.min(segment.last, range.last);
    if (first > last) continue;
    if (segment.bits) yield* runsOf(segment.bits, segment.first, { first, last }, forward);
    else yield { first, last };
  }
}

/** What the windows hold now, and that all of `filled` is read; everything else as stored. */
function replaceWindows(
  stored: readonly ReadSegment[],
  windows: ReadonlyMap<number, Uint8Array>,
  filled: OrdinalRange | null,
): ReadSetChange {
  const replaced = [...windows.keys()].map((window) => ({ first: windowStart(window), last: windowEnd(window) }));
  if (filled) replaced.push(filled);
  replaced.sort((a, b) => a.first - b.first);

  const pieces: ReadSegment[] = filled ? [{ ...filled, bits: null }] : [];
  for (const [window, bits] of windows) {
    const whole = { first: windowStart(window), last: windowEnd(window) };
    if (hasMoreRunsThan(MAX_RUNS_IN_WINDOW, bits)) pieces.push({ ...whole, bits });
    else for (const run of runsOf(bits, whole.first, whole, true)) pieces.push({ ...run, bits: null });
  }
  for (const segment of stored) cutOut(segment, replaced, pieces);
  pieces.sort((a, b) => a.first - b.first);
  return difference(stored, joined(pieces));
}

/** Adds what lies outside the ranges. A bitmap lies inside or outside as a whole, since ranges are made of whole windows. */
function cutOut(segment: ReadSegment, ranges: readonly OrdinalRange[], into: ReadSegment[]): void {
  let first = segment.first;
  for (const range of ranges) {
    if (range.last < first) continue;
    if (range.first > segment.last) break;
    if (range.first > first) into.push({ first, last: range.first - 1, bits: null });
    first = range.last + 1;
  }
  if (first === segment.first) into.push(segment);
  else if (first <= segment.last) into.push({ first, last: segment.last, bits: null });
}

/** Runs that touch become one. */
function joined(pieces: readonly ReadSegment[]): readonly ReadSegment[] {
  const result: ReadSegment[] = [];
  for (const piece of pieces) {
    const previous = result.at(-1);
    if (previous && !previous.bits && !piece.bits && previous.last + 1 === piece.first) {
      result[result.length - 1] = { first: previous.first, last: piece.last, bits: null };
    } else {
      result.push(piece);
    }
  }
  return result;
}

function difference(before: readonly ReadSegment[], after: readonly ReadSegment[]): ReadSetChange {
  const kept = new Map(before.map((segment) => [segment.first, segment]));
  const added: ReadSegment[] = [];
  for (const segment of after) {
    const old = kept.get(segment.first);
    if (old && old.last === segment.last && haveSameBits(old.bits, segment.bits)) kept.delete(segment.first);
    else added.push(segment);
  }
  return { removed: [...kept.keys()], added, result: after };
}

function haveSameBits(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && sameBits(a, b));
}

function contentOf(stored: readonly ReadSegment[], window: number): Uint8Array {
  const bits = new Uint8Array(WINDOW_BYTES);
  for (const segment of stored) {
    if (segment.bits === null) setBits(bits, window, segment);
    else if (isInWindow(window, segment.first)) bits.set(segment.bits, (segment.first - windowStart(window)) >> 3);
  }
  return bits;
}

function setBits(bits: Uint8Array, window: number, { first, last }: OrdinalRange): void {
  const start = windowStart(window);
  setRun(bits, Math.max(first - start, 0), Math.min(last - start, WINDOW_SIZE - 1));
}

/** Within a range that the bitmap covers; ascending, or else descending. */
function* runsOf(
  bits: Uint8Array,
  start: Ordinal,
  { first, last }: OrdinalRange,
  forward: boolean,
): Generator<OrdinalRange> {
  const walk = forward ? runs : runsDown;
  for (const run of walk(bits, first - start, last - start)) yield { first: start + run.first, last: start + run.last };
}
