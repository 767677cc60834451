import type { DomainError } from '@parley/domain/kernel';
import type { Columns } from '@parley/storage';
import { StatementFailed } from './connection.js';

/** @throws the error of `refusal` if a unique value is taken */
export function refusingTaken<T>(refusal: () => DomainError, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw isTaken(error) ? refusal() : error;
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof StatementFailed && error.code === 'SQLITE_CONSTRAINT_UNIQUE';

/**
 * Reads rows by column. SQLite returns each column as one JSON text, which is much cheaper than single values through
 * the driver. The statement returns one tuple.
 */
export class ColumnReader<Row> {
  readonly sql: string;

  /** @param source table name or a `SELECT` in parentheses */
  constructor(
    private readonly names: readonly (keyof Row & string)[],
    source: string,
  ) {
    this.sql = `SELECT ${names.map((name) => `json_group_array(${name})`).join(', ')} FROM ${source}`;
  }

  parse(texts: readonly string[]): Columns<Row> {
    return Object.fromEntries(this.names.map((name, n) => [name, JSON.parse(texts[n]!)])) as unknown as Columns<Row>;
  }

  /** Converts columns to row objects; faster than the driver for hundreds of rows and equal for a few. */
  rows(texts: readonly string[]): readonly Row[] {
    const { names } = this;
    const columns = texts.map((text) => JSON.parse(text) as readonly unknown[]);
    return columns[0]!.map((_, n) => {
      const row: Record<string, unknown> = {};
      for (let column = 0; column < names.length; column++) row[names[column]!] = columns[column]![n];
      return row as Row;
    });
  }
}
