import { existsSync } from 'node:fs';
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';

/**
 * SHA-256 checksums of file contents, in a file next to a SQLite database with a line per file: checksum and blob key.
 * Servers append those of new files. A backup adds those of others, and drops those of removed files.
 */
export class Checksums {
  private constructor(private readonly path: string) {}

  /** Returns null for a database server, which has no place next to it. */
  static of(
    database: { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'postgres' } | null,
  ): Checksums | null {
    return database?.kind === 'sqlite' ? new Checksums(`${database.path}.checksums`) : null;
  }

  /** Ignores failures, since the next backup adds the checksum. */
  readonly add = (key: string, checksum: string): Promise<void> =>
    appendFile(this.path, lineOf(key, checksum), { mode: 0o600 }).catch(() => {});

  /** Returns checksums by key. The first one of a key counts, because the content of a key never changes. */
  async read(): Promise<Map<string, string>> {
    const text = existsSync(this.path) ? await readFile(this.path, 'utf8') : '';
    const lines = [...text.matchAll(/^([0-9a-f]{64}) {2}([0-9a-f]{32})$/gm)];
    return new Map(lines.reverse().map(([, checksum, key]) => [key!, checksum!]));
  }

  /** Adds checksums of `found` files, and drops those of other `known` files unless they are `missing`. */
  async update(
    known: ReadonlyMap<string, string>,
    found: ReadonlyMap<string, string>,
    missing: readonly string[],
  ): Promise<void> {
    const kept = new Set([...found.keys(), ...missing]);
    const checksums = new Map([...found, ...(await this.read())]);
    for (const key of known.keys()) if (!kept.has(key)) checksums.delete(key);
    const unfinished = `${this.path}.${process.pid}`;
    try {
      const lines = [...checksums].map(([key, checksum]) => lineOf(key, checksum));
      await writeFile(unfinished, lines.join(''), { mode: 0o600 });
      await rename(unfinished, this.path);
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}

const lineOf = (key: string, checksum: string): string => `${checksum}  ${key}\n`;
