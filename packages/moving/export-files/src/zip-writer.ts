import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export type Content = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** Writer of a ZIP archive as a stream, entry by entry. */
export abstract class ZipWriter {
  private readonly zip = new ZipFile();
  private entry: Readable | null = null;
  private isCancelled = false;

  /** @param rest awaited after every few messages so that other work can run */
  constructor(
    private readonly mtime: Date,
    protected readonly rest: () => Promise<void>,
  ) {}

  /** Yields the archive. Only one batch is in memory at a time. */
  async *stream(): AsyncGenerator<Uint8Array> {
    const out = this.zip.outputStream as Readable;
    const written = this.write().then(() => this.zip.end());
    written.catch((error: Error) => out.destroy(error));
    try {
      for await (const chunk of out) yield chunk as Uint8Array;
    } finally {
      out.destroy();
      this.isCancelled = true;
      this.entry?.destroy();
    }
  }

  /** Adds all entries. */
  protected abstract write(): Promise<void>;

  protected async add(name: string, content: Content): Promise<void> {
    if (this.isCancelled) throw new Error('The export was cancelled');
    const entry = Readable.from(content, { objectMode: false });
    this.entry = entry;
    this.zip.addReadStream(entry, name, { mtime: this.mtime, mode: 0o600 });
    await finished(entry);
  }
}
