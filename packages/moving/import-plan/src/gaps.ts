import type { Gap } from '@parley/transfer/records';

/** Damaged or missing part of the export. */
export interface StagedGap extends Gap {
  /** Id of its record, such as a file with a line. */
  readonly part: string;
  readonly reason: string;
}

/** Maximum number of gaps of one conversation; more become one gap of the whole conversation. */
const MAX_GAPS = 100;
/** Maximum number of conversations with gaps; gaps of others count for all conversations. */
const MAX_PLACES = 10_000;

/** Gaps of an export, limited in number. */
export class Gaps {
  private readonly byPlace = new Map<string, StagedGap[]>();

  add(gap: StagedGap): void {
    const { from: _, until: __, ...always } = gap;
    const { part, reason, channel = '', conversation = '' } = gap;
    const key = `${channel}\0${conversation}`;
    const gaps = this.byPlace.get(key);
    if (!gaps && key !== ALL && this.byPlace.size >= MAX_PLACES) this.add({ part, reason });
    else if (!gaps) this.byPlace.set(key, [gap]);
    else if (gaps.length < MAX_GAPS) gaps.push(gap);
    else gaps.splice(0, gaps.length, always);
  }

  *list(): Generator<StagedGap> {
    for (const gaps of this.byPlace.values()) yield* gaps;
  }
}

/** Key of gaps without a conversation. */
const ALL = '\0';
