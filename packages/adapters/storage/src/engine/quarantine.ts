/** Location of a value in the database. */
export interface StoredValueLocation {
  readonly table: string;
  readonly id: number;
  readonly column: string;
}

/** Maximum number of reported locations. */
const MAX_REPORTED = 1000;

/**
 * Replaces unreadable stored values by ones without privileges and reports each once. A bad row neither prevents
 * startup nor affects other rows.
 */
export class Quarantine {
  private readonly reported = new Set<string>();

  constructor(private readonly log: (problem: string) => void) {}

  report({ table, id, column }: StoredValueLocation, problem: string): void {
    const cell = `${table} ${id}, ${column}`;
    if (this.reported.has(cell) || this.reported.size >= MAX_REPORTED) return;
    this.reported.add(cell);
    this.log(`The database contains an invalid value (${cell}: ${problem}), which is replaced by a harmless one.`);
  }

  /** Reads a column that contains one of several known words. */
  word<T extends string>(value: T, allowed: readonly T[], standIn: T, table: string, id: number, column: string): T {
    if (allowed.includes(value)) return value;
    this.report({ table, id, column }, 'an unknown word');
    return standIn;
  }
}
