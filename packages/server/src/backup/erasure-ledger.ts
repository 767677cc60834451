import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type ErasureRecord, isId } from '@parley/domain/kernel';
import type { ErasureLedger } from '@parley/domain/membership';
import { StartupError } from '../kernel/startup-error.js';

/** Path of the ledger of a database, which stays in place when the database is replaced. */
export const ledgerPathFor = (database: string): string => `${database}.erasures`;

/** Limit for ledgers, which are read into memory. */
const MAX_LEDGER_BYTES = 64 * 1024 ** 2;

/** Ledger in a file with one line of JSON per erasure: ids and times. */
export class FileErasureLedger implements ErasureLedger {
  constructor(private readonly path: string) {}

  /** Replaces the file in one step. What two processes add at the same time is completed by `CopyErasuresToLedger`. */
  async add(entries: readonly ErasureRecord[]): Promise<void> {
    const existing = (await readLedger(this.path)).map(lineOf);
    const lines = new Set([...existing, ...entries.map(lineOf)]);
    if (lines.size === existing.length) return;
    const text = [...lines, ''].join('\n');
    requireReadable(this.path, Buffer.byteLength(text));
    const unfinished = `${this.path}.${randomUUID()}`;
    try {
      await writeFile(unfinished, text, { mode: 0o600, flush: true });
      await rename(unfinished, this.path);
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}

const lineOf = ({ realmId, realmUuid, personId, requestedAt, everythingWritten }: ErasureRecord): string =>
  JSON.stringify({ realmId, realmUuid, personId, requestedAt, everythingWritten });

/** Reads the entries of a ledger; none if there is no file. @throws StartupError if it is not a ledger */
export async function readLedger(path: string): Promise<readonly ErasureRecord[]> {
  if (!existsSync(path)) return [];
  requireReadable(path, (await stat(path)).size);
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => {
    const entry = entryIn(line);
    if (!entry) throw new StartupError(`${path} is not a ledger of erasures or is damaged: line ${index + 1}.`);
    return entry;
  });
}

/** Returns null for a line that is not an entry. */
function entryIn(line: string): ErasureRecord | null {
  try {
    const entry = JSON.parse(line) as ErasureRecord;
    const isEntry =
      isId(entry.realmId) &&
      typeof entry.realmUuid === 'string' &&
      isId(entry.personId) &&
      isId(entry.requestedAt) &&
      typeof entry.everythingWritten === 'boolean';
    return isEntry ? entry : null;
  } catch {
    return null;
  }
}

function requireReadable(path: string, bytes: number): void {
  if (bytes > MAX_LEDGER_BYTES) throw new StartupError(`${path} is too large for a ledger of erasures.`);
}
