/** Gapless range of messages of a narrow. */
export interface Span {
  /** Ascending. */
  readonly ids: readonly number[];
  /** True if no older message exists. */
  readonly isOldest: boolean;
  /** True if the span reaches the present, so that new messages are appended to it. */
  readonly isNewest: boolean;
}

/** Page of messages returned by the server. `from` and `to` are the ends of the covered range. */
export interface Page extends Span {
  readonly from: number;
  readonly to: number;
}

export const EMPTY_SPAN: Span = { ids: [], isOldest: false, isNewest: false };

/** Adds a page and joins the spans that it touches. Spans stay ordered. */
export function withPage(spans: readonly Span[], page: Page): readonly Span[] {
  let joined: Span = { ids: page.ids, isOldest: page.isOldest, isNewest: page.isNewest };
  const others: Span[] = [];
  for (const span of spans) {
    if (touches(span, page)) joined = join(joined, span);
    else others.push(span);
  }
  return [...others, joined].sort((a, b) => (a.ids[0] ?? 0) - (b.ids[0] ?? 0));
}

/** Returns the span that covers a message id; undefined in a gap. */
export const spanAt = (spans: readonly Span[], id: number): Span | undefined =>
  spans.find(
    ({ ids, isOldest, isNewest }) =>
      (isOldest || (ids.length > 0 && ids[0]! <= id)) && (isNewest || (ids.length > 0 && ids.at(-1)! >= id)),
  );

/** Adds a message to the span that covers its place. New messages go to the span that reaches the present. */
export const withMessage = (spans: readonly Span[], id: number): readonly Span[] =>
  spans.map((span) => (span === spanAt(spans, id) ? { ...span, ids: inserted(span.ids, id) } : span));

export function withoutMessages(spans: readonly Span[], ids: ReadonlySet<number>): readonly Span[] {
  return spans.map((span) =>
    span.ids.some((id) => ids.has(id)) ? { ...span, ids: span.ids.filter((id) => !ids.has(id)) } : span,
  );
}

/** Returns the message nearest to an id; null if there is none. */
export const nearest = (ids: readonly number[], target: number): number | null =>
  ids.reduce<number | null>(
    (best, id) => (best === null || Math.abs(id - target) < Math.abs(best - target) ? id : best),
    null,
  );

function touches({ ids, isOldest, isNewest }: Span, page: Page): boolean {
  const first = ids[0];
  const last = ids.at(-1);
  if (first === undefined || last === undefined) return (isOldest && page.isOldest) || (isNewest && page.isNewest);
  return (page.isNewest || first <= page.to) && (page.isOldest || last >= page.from);
}

function join(a: Span, b: Span): Span {
  return {
    ids: [...new Set([...a.ids, ...b.ids])].sort((x, y) => x - y),
    isOldest: a.isOldest || b.isOldest,
    isNewest: a.isNewest || b.isNewest,
  };
}

function inserted(ids: readonly number[], id: number): readonly number[] {
  const last = ids.at(-1);
  if (last === undefined || last < id) return [...ids, id];
  if (ids.includes(id)) return ids;
  const at = ids.findIndex((each) => each > id);
  return [...ids.slice(0, at), id, ...ids.slice(at)];
}
