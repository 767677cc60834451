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
