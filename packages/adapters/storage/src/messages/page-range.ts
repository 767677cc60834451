import { idOf, type MessageIndexRow } from './viewer-message-state.js';

/** Direction of a page from its anchor and its inclusive range of ids. */
export interface PageBounds {
  readonly direction: 'older' | 'newer';
  readonly first: number;
  readonly last: number;
}

export const orderOf = ({ direction }: Pick<PageBounds, 'direction'>): string =>
  direction === 'older' ? 'DESC' : 'ASC';
export const signOf = ({ direction }: PageBounds): number => (direction === 'older' ? -1 : 1);

/** Returns the part of a page range within these ids; null if it is empty. */
export function within(
  pageRange: PageBounds,
  ids: { readonly first: number; readonly last: number },
): PageBounds | null {
  const first = Math.max(pageRange.first, ids.first);
  const last = Math.min(pageRange.last, ids.last);
  return first > last ? null : { ...pageRange, first, last };
}

/** Returns the rest of a page range after this id; null at its end. */
export function after(pageRange: PageBounds, id: number): PageBounds | null {
  const rest = pageRange.direction === 'older' ? { ...pageRange, last: id - 1 } : { ...pageRange, first: id + 1 };
  return rest.first > rest.last ? null : rest;
}

export const upTo = (pageRange: PageBounds, id: number): PageBounds =>
  pageRange.direction === 'older' ? { ...pageRange, first: id } : { ...pageRange, last: id };

/** Merges ordered lists into the first `limit` messages without duplicates. */
export function merge(
  lists: readonly (readonly MessageIndexRow[])[],
  pageRange: PageBounds,
  limit: number,
): MessageIndexRow[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length <= 1) return filled[0] ? filled[0].slice(0, limit) : [];
  const sign = signOf(pageRange);
  const all = new Map(filled.flat().map((bounds) => [idOf(bounds), bounds]));
  return [...all.values()].sort((a, b) => sign * (idOf(a) - idOf(b))).slice(0, limit);
}
