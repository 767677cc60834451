/** Of a value in the database. */
export interface StoredValueLocation {
  readonly table: string;
  readonly id: number;
  readonly column: string;
}

/** So many are reported. */
const MAX_REPORTED = 1000;

/**
 * For stored values that cannot be read, whatever the reason. Each is reported once, and something that gives
 * nobody any rights stands in its place: one bad row neither stops a start nor is in the way of anybody else's.
 */
export class Quarantine {
  private readonly reported = new Set<string>();

  constructor(private readonly log: (problem: string) => void) {}

  report({ table, id, column }: StoredValueLocation, problem: string): void {
    const place = `${table} ${id}, ${column}`;
    if (this.reported.has(place) || this.reported.size >= MAX_REPORTED) return;
    this.reported.add(place);
    this.log(`The database holds a value that makes no sense (${place}: ${problem}); a harmless one stands in for it.`);
  }

  /** Where a column holds one of a few words. */
  word<T extends string>(value: T, known: readonly T[], standIn: T, table: string, id: number, column: string): T {
    if (known.includes(value)) return value;
    this.report({ table, id, column }, 'an unknown word');
    return standIn;
  }
}
