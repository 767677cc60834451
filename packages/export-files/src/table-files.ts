import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Beyond it, rows are handed to the disk. */
const MAX_HELD = 65_536;

interface TableFile {
  readonly path: string;
  readonly stream: WriteStream;
  held: string[];
  heldLength: number;
  isEmpty: boolean;
}

/** Tables that may be long, each as a file of JSON rows on the disk until all are complete. */
export class TableFiles {
  private readonly files = new Map<string, TableFile>();

  constructor(private readonly folder: string) {}

  async add(table: string, row: object): Promise<void> {
    await this.write(this.file(table), JSON.stringify(row), ',\n');
  }

  /** A table may stay empty. */
  begin(...tables: readonly string[]): void {
    for (const table of tables) this.file(table);
  }

  /** A line of a file that is no table. */
  async addLine(name: string, row: object): Promise<void> {
    await this.write(this.file(name), JSON.stringify(row), '\n');
  }

  async end(): Promise<void> {
    for (const file of this.files.values()) {
      file.stream.write(file.held.join(''));
      await new Promise<void>((resolve, reject) => {
        file.stream.on('error', reject).end(resolve);
      });
    }
  }

  /** Of the whole file, which has ended. In bytes. */
  async sizeOf(name: string): Promise<number> {
    return (await stat(this.file(name).path)).size;
  }

  read(name: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.file(name).path);
  }

  private async write(file: TableFile, text: string, separator: string): Promise<void> {
    if (!file.isEmpty) file.held.push(separator);
    file.isEmpty = false;
    file.held.push(text);
    file.heldLength += text.length;
    if (file.heldLength < MAX_HELD) return;
    const chunk = file.held.join('');
    file.held = [];
    file.heldLength = 0;
    if (!file.stream.write(chunk)) {
      await new Promise<void>((resolve, reject) => {
        file.stream.once('error', reject).once('drain', () => {
          file.stream.off('error', reject);
          resolve();
        });
      });
    }
  }

  private file(name: string): TableFile {
    const known = this.files.get(name);
    if (known) return known;
    const path = join(this.folder, `${this.files.size}.rows`);
    const file = { path, stream: createWriteStream(path, { mode: 0o600 }), held: [], heldLength: 0, isEmpty: true };
    this.files.set(name, file);
    return file;
  }
}
