import { readFileSync, statSync } from 'node:fs';
import { hint } from '../kernel/did-you-mean.js';
import { StartupError, systemReasonOf } from '../kernel/startup-error.js';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Values by column, with the line number in the file. */
export type CsvRow = Readonly<Record<string, string>> & { readonly line: number };

/**
 * Reads a CSV file with a line of column names, which may be in any order. @throws StartupError
 */
export async function readCsvFile(
  path: string,
  columns: readonly string[],
  required: readonly string[],
): Promise<readonly CsvRow[]> {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`the file is larger than ${MAX_FILE_BYTES} bytes`);
    text = utf8Of(readFileSync(path));
  } catch (error) {
    throw new StartupError(`Cannot read ${path}: ${systemReasonOf(error)}.`);
  }
  if (text.trim() === '') throw new StartupError(`${path} is empty; the first line must name the columns.`);
  // Synchronous parsing is fine in a command.
  const { parse } = await import('csv-parse/sync');
  let records: readonly { readonly record: Record<string, string>; readonly info: { readonly lines: number } }[];
  try {
    // The library's types lack `info`.
    records = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      columns: (names: string[]) =>
        checkedColumns(
          names.map((name) => name.trim().toLowerCase()),
          columns,
          required,
        ),
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${path} is not a valid CSV file: ${(error as Error).message}`);
  }
  return records.map(({ record, info }) => ({ ...record, line: info.lines }) as CsvRow);
}

/** @throws Error if the bytes are not UTF-8 */
function utf8Of(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('the file is not UTF-8 text; spreadsheets can export "CSV UTF-8"');
  }
}

/** Detects the delimiter. Spreadsheets use semicolons in locales with a decimal comma. */
function delimiterOf(text: string): ',' | ';' | '\t' {
  const names = text.slice(0, text.search(/[\r\n]|$/));
  return ([',', ';', '\t'] as const).find((sign) => names.includes(sign)) ?? ',';
}

function checkedColumns(names: readonly string[], columns: readonly string[], required: readonly string[]): string[] {
  for (const name of names) {
    if (!columns.includes(name)) {
      throw new StartupError(
        `There is no column ${name}${hint(name, columns) || `; valid columns are ${columns.join(', ')}.`}`,
      );
    }
  }
  for (const name of required) if (!names.includes(name)) throw new StartupError(`The column ${name} is missing.`);
  return [...names];
}
