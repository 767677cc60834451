// Declares the error code.
import { DomainError } from '@parley/domain/kernel';

/** Position in an export. */
export interface Position {
  /** Path inside the archive or folder. */
  readonly file: string;
  /** First line of the record, from 1. */
  readonly line: number;
}

/** Error that ends the import, with the position in the export. `line` is the first line of a record, from 1. */
export const sourceError = (file: string, line: number | null, reason: string): DomainError =>
  new DomainError('INVALID_IMPORT', line === null ? `${file}: ${reason}.` : `${file}, line ${line}: ${reason}.`);

/** Message without the period at its end. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
