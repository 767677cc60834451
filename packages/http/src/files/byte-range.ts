import type { ByteRange } from '@parley/domain/files';

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * What of so many bytes a `Range` header asks for (RFC 9110, range requests). `all`: everything, since nothing is asked for that we answer in
 * part: several ranges, other units. `none`: nothing of it is there.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'all' | 'none' {
  const [, first, last] = RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'all';
  if (start >= size) return 'none';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
