import type { Ordinal } from '../kernel/ids.js';

// Bit position `n` is bit `n & 7` of byte `n >> 3`.

const ONES_IN_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Range of positions, both ends included. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

export const hasBit = (bits: Uint8Array, position: number): boolean =>
  ((bits[position >> 3]! >> (position & 7)) & 1) === 1;

/** Compares bitmaps of equal length. */
export function sameBits(a: Uint8Array, b: Uint8Array): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/** Sets all bits from `first` to `last`, inclusive; none if `last < first`. */
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

/** Returns the number of set bits from `first` to `last`, inclusive. */
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

/** True if the bitmap has more than `most` runs of set bits. */
export function hasMoreRunsThan(most: number, bits: Uint8Array): boolean {
  let count = 0;
  let previous = 0;
  for (let index = 0; index < bits.length && count <= most; index++) {
    const byte = bits[index]!;
    // A run starts at each set bit that follows a cleared one.
    count += ONES_IN_BYTE[byte & ~((byte << 1) | (previous >> 7))]!;
    previous = byte;
  }
  return count > most;
}

/** Yields runs of set bits clipped to `first` and `last`, ascending. */
export function* runs(bits: Uint8Array, first: number, last: number): Generator<Run> {
  for (let from = nextBit(bits, first, last, true); from <= last; ) {
    const end = nextBit(bits, from, last, false);
    yield { first: from, last: end - 1 };
    from = nextBit(bits, end, last, true);
  }
}

/** Yields runs of set bits like `runs`, but descending. */
export function* runsDown(bits: Uint8Array, first: number, last: number): Generator<Run> {
  for (let end = previousBit(bits, last, first, true); end >= first; ) {
    const from = previousBit(bits, end, first, false);
    yield { first: from + 1, last: end };
    end = previousBit(bits, from, first, true);
  }
}

/** Returns the first position between `first` and `last`, inclusive, with that bit value, or `last + 1`. */
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

/** Searches like `nextBit`, but downwards; returns `first - 1` if there is none. */
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
 * Set of ordinals of a recipient's messages that a user has read. It is stored in few, small segments regardless of
 * history length. A change touches only nearby segments.
 *
 * A segment is either a run, which covers every ordinal from `first` to `last`, or a bitmap of one window. Bitmaps
 * replace many short runs, as when one of twenty interleaved topics is read.
 */
export interface ReadSegment {
  readonly first: Ordinal;
  readonly last: Ordinal;
  /**
   * Null if all ordinals are read. Otherwise, bit `n & 7` of byte `n >> 3` is set if `first + n` is read. Covers
   * exactly one window; segments from versions with smaller windows cover whole bytes of a window.
   */
  readonly bits: Uint8Array | null;
}

/** Contiguous range of ordinals, both ends included. */
export interface OrdinalRange {
  readonly first: Ordinal;
  readonly last: Ordinal;
}

/** Changes to the stored segments; apply removals first. */
export interface ReadSetChange {
  /** The `first` of each removed segment; ascending. */
  readonly removed: readonly Ordinal[];
  /** Ascending; `first` may equal that of a removed segment. */
  readonly added: readonly ReadSegment[];
  /** New state of the given stored segments; ascending. */
  readonly result: readonly ReadSegment[];
}

/** Ordinals per window: 1…4096, 4097…8192 and so on. Larger bitmaps would need overflow pages in a row. */
export const WINDOW_SIZE = 4096;
const WINDOW_BYTES = WINDOW_SIZE / 8;
/** Number of runs that take about as much space as a bitmap. */
const MAX_RUNS_IN_WINDOW = 32;

const windowOf = (ordinal: Ordinal): number => Math.floor((ordinal - 1) / WINDOW_SIZE);
const windowStart = (window: number): Ordinal => window * WINDOW_SIZE + 1;
const windowEnd = (window: number): Ordinal => (window + 1) * WINDOW_SIZE;
const isInWindow = (window: number, ordinal: Ordinal): boolean =>
  windowStart(window) <= ordinal && ordinal <= windowEnd(window);
const NO_BITS = new Uint8Array();

/**
 * Returns the ranges of segments needed to change these ordinals. Ranges are ascending and disjoint; ordinals may be in
 * any order.
 */
export function affectedRanges(ordinals: readonly Ordinal[]): readonly OrdinalRange[] {
  const windows = new Set<number>();
  let window = -1;
  for (const ordinal of ordinals) {
    // Usually the window of the previous ordinal.
    if (isInWindow(window, ordinal)) continue;
    window = windowOf(ordinal);
    windows.add(window);
  }
  const ranges: { first: Ordinal; last: Ordinal }[] = [];
  for (const window of [...windows].sort((a, b) => a - b)) {
    // Includes one ordinal on each side, where a run may continue.
    const first = windowStart(window) - 1;
    const last = windowEnd(window) + 1;
    const previous = ranges.at(-1);
    if (previous && previous.last >= first) previous.last = last;
    else ranges.push({ first, last });
  }
  return ranges;
}

/**
 * Marks ordinals as read or unread. `stored`: the segments that overlap the `affectedRanges`, ascending. Equal sets
 * always produce equal segments.
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
    // Usually in the window of the previous ordinal.
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
 * Returns the updated last segment if reading the newest ordinal only extends a run or sets a bit. Returns null if more
 * must change.
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
 * Marks a range as read. `stored`: the segments between its ends and those that overlap the `affectedRanges` of both
 * ends; ascending.
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

/** Expects at least the segments that overlap the ordinal, ascending. */
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

/** Returns the number of read ordinals in a range. Expects at least the segments that overlap it. */
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

/** Returns the first unread ordinal of a range. Expects at least the segments that overlap it, ascending. */
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
 * Yields the maximal unread ranges within `range`, starting at the end given by `from`. `segments` contains at least
 * those that overlap the range, in iteration order, and is consumed lazily.
 */
export function* unreadRanges(
  segments: Iterable<ReadSegment>,
  range: OrdinalRange,
  from: 'start' | 'end',
): Generator<OrdinalRange> {
  const forward = from === 'start';
  // First undecided ordinal in iteration order.
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

/** Yields read ranges; adjacent ones may touch. */
function* readRanges(segments: Iterable<ReadSegment>, range: OrdinalRange, forward: boolean): Generator<OrdinalRange> {
  for (const segment of segments) {
    const first = Math.max(segment.first, range.first);
    const last = Math.min(segment.last, range.last);
    if (first > last) continue;
    if (segment.bits) yield* runsOf(segment.bits, segment.first, { first, last }, forward);
    else yield { first, last };
  }
}

/** Replaces the given windows and marks `filled` as read; leaves other segments unchanged. */
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

/** Adds the parts of a segment outside the ranges. Ranges consist of whole windows, so a bitmap is never split. */
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

/** Merges adjacent runs. */
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

/** Yields runs of a bitmap within a covered range, ascending or descending. */
function* runsOf(
  bits: Uint8Array,
  start: Ordinal,
  { first, last }: OrdinalRange,
  forward: boolean,
): Generator<OrdinalRange> {
  const walk = forward ? runs : runsDown;
  for (const run of walk(bits, first - start, last - start)) yield { first: start + run.first, last: start + run.last };
}
