import { createWriteStream, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { firstOf } from '@parley/domain/kernel';
import type { ImportReader, ImportRecord, ImportRecordKind } from '@parley/transfer/records';
import { Ajv } from 'ajv';
import { ZipFile } from 'yazl';

/** Files by path. Values other than texts and bytes are written as JSON. */
export type ExportFiles = Readonly<Record<string, unknown>>;

export const bytesOf = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value, null, 1));

const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'import-readers-'));

/** Writes a ZIP and returns its path. */
export async function writeZip(files: ExportFiles, name = 'export.zip'): Promise<string> {
  const path = join(await temporaryFolder(), name);
  const zip = new ZipFile();
  for (const [file, value] of Object.entries(files)) zip.addBuffer(bytesOf(value), file);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

/** Replaces bytes of a file by others of the same length, and returns its path. */
export async function forge(path: string, from: string | Buffer, to: string | Buffer): Promise<string> {
  const bytes = await readFile(path);
  let count = 0;
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1), count++)
    Buffer.from(to).copy(bytes, at);
  if (count === 0) throw new Error('Nothing to replace');
  await writeFile(path, bytes);
  return path;
}

/** Removes the flag for UTF-8 of names, bit 11 after the required version. */
export const withoutUtf8Flag = (path: string): Promise<string> =>
  forge(path, Buffer.from([0x14, 0x00, 0x00, 0x08]), Buffer.from([0x14, 0x00, 0x00, 0x00]));

export async function writeFolder(files: ExportFiles): Promise<string> {
  const folder = await temporaryFolder();
  for (const [file, value] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), bytesOf(value));
  }
  return folder;
}

const SCHEMAS = new Ajv({ discriminator: true, strict: false });
/** The import refuses other records. */
const isRecord = SCHEMAS.compile(
  JSON.parse(readFileSync(join(__dirname, '../../../../../docs/import-record.schema.json'), 'utf8')),
);

/** Reads all records, which must have the documented form. */
export async function readRecords(reader: ImportReader, path: string): Promise<ImportRecord[]> {
  const opened = await reader.open(path);
  const records: ImportRecord[] = [];
  try {
    for await (const record of opened.records()) {
      if (!isRecord(record))
        throw new Error(`${JSON.stringify(record).slice(0, 1000)}: ${SCHEMAS.errorsText(isRecord.errors)}`);
      records.push(record);
    }
  } finally {
    await opened.close();
  }
  return records;
}

/** Expects equal records from two readings of an open export, and unique ids per kind. */
export async function expectStableRecords(reader: ImportReader, path: string): Promise<void> {
  const opened = await reader.open(path);
  const runs: ImportRecord[][] = [[], []];
  for (const run of runs) for await (const record of opened.records()) run.push(record);
  await opened.close();
  expect(runs[0]).toEqual(runs[1]);
  const keys = firstOf(runs).map(({ kind, id }) => `${kind} ${id}`);
  expect(new Set(keys).size).toBe(keys.length);
}

type RecordOf<Kind extends ImportRecordKind> = Extract<ImportRecord, { readonly kind: Kind }>;

export const recordsOf = <Kind extends ImportRecordKind>(
  records: readonly ImportRecord[],
  kind: Kind,
): readonly RecordOf<Kind>[] => records.filter((record): record is RecordOf<Kind> => record.kind === kind);
