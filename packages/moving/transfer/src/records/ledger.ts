import type { ImportRecordKind } from './records.js';

/**
 * Fate of a record: it became a new object, joined an existing one, became text or a note, waits for its bytes,
 * or was left out.
 */
export const LEDGER_OUTCOMES = ['imported', 'merged', 'represented', 'waiting', 'dropped'] as const;
export type LedgerOutcome = (typeof LEDGER_OUTCOMES)[number];

export interface LedgerLine {
  readonly kind: ImportRecordKind;
  readonly outcome: LedgerOutcome;
  /** Empty for ordinary imported records. */
  readonly reason: string;
  readonly count: number;
  /** Ids of the first records. */
  readonly examples: readonly string[];
}

/** Maximum number of lines, because sources may name reasons. */
const MAX_LINES = 500;
const OTHER_REASONS = 'other reasons';
const MAX_EXAMPLES = 5;

type Line = LedgerLine & { count: number; readonly examples: string[] };

/** Accounts for every record exactly once. Records are numbered from 0 in the order of the stream. */
export class ImportLedger {
  private readonly lines = new Map<string, Line>();
  /** One bit per accounted record. */
  private accounted = new Uint8Array(1024);
  private accountedCount = 0;
  private recordCount = 0;

  /** Number of records read. */
  get records(): number {
    return this.recordCount;
  }

  get unaccounted(): number {
    return this.recordCount - this.accountedCount;
  }

  /** Returns the number of a record that was just read. */
  read(): number {
    const byte = this.recordCount >> 3;
    if (byte >= this.accounted.length) {
      const larger = new Uint8Array(2 * this.accounted.length);
      larger.set(this.accounted);
      this.accounted = larger;
    }
    return this.recordCount++;
  }

  isAccounted(number: number): boolean {
    return (this.accounted[number >> 3]! & (1 << (number & 7))) !== 0;
  }

  /** Throws an Error if the record was accounted before. */
  account(
    number: number,
    { kind, id }: { readonly kind: ImportRecordKind; readonly id: string },
    outcome: LedgerOutcome,
    reason = '',
  ): void {
    if (number >= this.recordCount || this.isAccounted(number)) {
      throw new Error(`The ${kind} ${id} is accounted for twice`);
    }
    this.accounted[number >> 3]! |= 1 << (number & 7);
    this.accountedCount++;
    const line = this.lineOf(kind, outcome, reason);
    line.count++;
    if (line.examples.length < MAX_EXAMPLES) line.examples.push(id);
  }

  /** Sorted by kind, outcome and number of records. */
  report(): readonly LedgerLine[] {
    return [...this.lines.values()].sort(
      (a, b) =>
        a.kind.localeCompare(b.kind) ||
        LEDGER_OUTCOMES.indexOf(a.outcome) - LEDGER_OUTCOMES.indexOf(b.outcome) ||
        b.count - a.count,
    );
  }

  private lineOf(kind: ImportRecordKind, outcome: LedgerOutcome, reason: string): Line {
    const key = `${kind}\0${outcome}\0${reason}`;
    const existing = this.lines.get(key);
    if (existing) return existing;
    if (this.lines.size >= MAX_LINES && reason !== OTHER_REASONS) return this.lineOf(kind, outcome, OTHER_REASONS);
    const line: Line = { kind, outcome, reason, count: 0, examples: [] };
    this.lines.set(key, line);
    return line;
  }
}
