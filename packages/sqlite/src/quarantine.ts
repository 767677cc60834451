/** Of a value in the database. */
export interface StoredPlace {
  readonly table: string;
  readonly id: number;
  readonly column: string;
}

/** So many are told of; whoever has more has heard enough. */
const MAX_TOLD = 1000;

/**
 * For stored values that make no sense, whatever has happened to them. Each is told of once, and something that gives
 * nobody any rights stands in its place: one bad row neither stops a start nor is in the way of anybody else's.
 */
export class Quarantine {
  private readonly told = new Set<string>();

  constructor(private readonly report: (problem: string) => void) {}

  tell({ table, id, column }: StoredPlace, problem: string): void {
    const place = `${table} ${id}, ${column}`;
    if (this.told.has(place) || this.told.size >= MAX_TOLD) return;
    this.told.add(place);
    this.report(
      `The database holds a value that makes no sense (${place}: ${problem}); a harmless one stands in for it.`,
    );
  }

  /** Where a column holds one of a few words. */
  word<T extends string>(value: T, known: readonly T[], standIn: T, table: string, id: number, column: string): T {
    if (known.includes(value)) return value;
    this.tell({ table, id, column }, 'an unknown word');
    return standIn;
  }
}
