import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { invalidImport, isParsableUrl } from '@parley/domain/kernel';
import { WebhookRefused } from '@parley/domain/membership';
import type { FileRecord, OpenImport } from '@parley/transfer/records';
import type { Database } from 'better-sqlite3';
import { openSqlite } from './open-sqlite.js';

/** Response with a file. */
export interface FileResponse {
  readonly status: number;
  readonly contentType: string;
  /** Seconds; null if the server named none. */
  readonly retryAfter: number | null;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** Web client that connects to public addresses only and follows no redirects. */
export interface FileClient {
  open(url: string, headers: Readonly<Record<string, string>>): Promise<FileResponse>;
}

export interface DownloadOptions {
  /** Folder of the downloaded files, which later downloads reuse. */
  readonly folder: string;
  readonly client: FileClient;
  /** Access token of the source; never stored. */
  readonly token: string | null;
  /** Hosts that may receive the token, including their subdomains. */
  readonly tokenHosts: readonly string[];
  readonly limits?: DownloadLimits;
  readonly wait?: (ms: number) => Promise<unknown>;
}

export interface DownloadLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  maxFiles: 2_000_000,
  maxFileBytes: 1024 ** 3,
  maxBytes: 1024 ** 4,
};

const AT_A_TIME = 8;
const ATTEMPTS = 3;
/** Failed downloads in a row after which a server is not tried again. */
const MAX_FAILURES = 10;
const MAX_HOSTS = 10_000;
const RETRY_MS = 2000;
const MAX_RETRY_MS = 60_000;

export interface DownloadCounts {
  readonly downloaded: number;
  readonly bytes: number;
  /** Files that were in the folder already. */
  readonly existing: number;
  /** Numbers of failed downloads by reason. */
  readonly failed: Readonly<Record<string, number>>;
}

/** Start of the path of a downloaded file; no file of an export has such a path. */
const PATH = '\0downloaded/';

export const isDownloaded = (path: string): boolean => path.startsWith(PATH);

/**
 * Downloads the files that the export contains only as URLs. Returns the export with the downloaded files. Files with a
 * permanent failure are missing for that reason; others keep their URL.
 * @throws DomainError INVALID_IMPORT
 */
export async function downloadFiles(
  opened: OpenImport,
  options: DownloadOptions,
): Promise<{ readonly opened: OpenImport; readonly counts: DownloadCounts }> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const downloads = new Downloads(options);
  try {
    await downloads.run(opened);
  } catch (error) {
    downloads.close();
    throw error;
  }
  return {
    counts: downloads.counts,
    opened: {
      records: async function* () {
        for await (const record of opened.records()) {
          yield record.kind === 'file' && record.url !== undefined ? downloads.resolved(record) : record;
        }
      },
      sizeOf: async (path) => {
        if (!isDownloaded(path)) return opened.sizeOf(path);
        return statSync(downloads.locationOf(path), { throwIfNoEntry: false })?.size ?? null;
      },
      openFile: async (path) => {
        if (!isDownloaded(path)) return opened.openFile(path);
        const location = downloads.locationOf(path);
        return existsSync(location) ? createReadStream(location) : null;
      },
      close: () => {
        downloads.close();
        return opened.close();
      },
    },
  };
}

/** Failure of one download. `isFinal`: another attempt would fail as well. */
class DownloadFailed extends Error {
  constructor(
    readonly reason: string,
    readonly isFinal: boolean,
    readonly retryAfter: number | null = null,
  ) {
    super(reason);
  }
}

interface ReceivedFile {
  readonly hash: string;
  readonly contentType: string;
}

interface Row {
  readonly hash: string | null;
  readonly contentType: string;
  readonly reason: string;
}

/** Files in a folder, named by the hash of their content, with an index by the id of their records. */
class Downloads {
  private readonly index: Database;
  private readonly failed = new Map<string, number>();
  private readonly running = new Map<string, Promise<unknown>>();
  /** Numbers of temporary failures in a row by host. */
  private readonly failures = new Map<string, number>();
  private downloaded = 0;
  private existing = 0;
  private bytes = 0;

  constructor(private readonly options: DownloadOptions) {
    for (const name of readdirSync(options.folder)) {
      if (name.startsWith('part-')) rmSync(join(options.folder, name));
    }
    this.index = openSqlite(join(options.folder, 'index.sqlite'));
    this.index.exec(`
      CREATE TABLE IF NOT EXISTS files (
        source TEXT, id TEXT, hash TEXT, contentType TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (source, id)
      ) WITHOUT ROWID;
      DELETE FROM files WHERE hash IS NULL;
    `);
  }

  get counts(): DownloadCounts {
    const { downloaded, bytes, existing, failed } = this;
    return { downloaded, bytes, existing, failed: Object.fromEntries(failed) };
  }

  async run(opened: OpenImport): Promise<void> {
    const { maxFiles } = this.options.limits ?? DOWNLOAD_LIMITS;
    const errors: unknown[] = [];
    let files = 0;
    try {
      for await (const record of opened.records()) {
        if (errors.length > 0) break;
        if (record.kind !== 'file' || record.url === undefined || this.running.has(record.id)) continue;
        if (++files > maxFiles) throw invalidImport(`It has more than ${maxFiles} files to download.`);
        const row = this.find(record);
        if (row?.hash === null) continue;
        if (row && existsSync(join(this.options.folder, row.hash))) {
          this.existing++;
          continue;
        }
        if (this.running.size >= AT_A_TIME) await Promise.race(this.running.values());
        const download = this.download(record, record.url)
          // Nothing awaits downloads while the next record is read, so a rejection would end the process.
          .catch((error: unknown) => errors.push(error))
          .finally(() => this.running.delete(record.id));
        this.running.set(record.id, download);
      }
    } finally {
      await Promise.all(this.running.values());
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Returns the record with the location of the downloaded file, or the reason why there is none. */
  resolved(record: FileRecord): FileRecord {
    const row = this.find(record);
    if (!row) return record;
    const { url: _, ...rest } = record;
    if (row.hash === null) return { ...rest, missing: row.reason };
    return { contentType: row.contentType, ...rest, path: PATH + row.hash };
  }

  /** @throws DomainError INVALID_IMPORT */
  locationOf(path: string): string {
    const name = path.slice(PATH.length);
    if (!/^[0-9a-f]{64}$/.test(name)) throw invalidImport('The name of a downloaded file is wrong.');
    return join(this.options.folder, name);
  }

  close(): void {
    this.index.close();
  }

  private find({ source, id }: FileRecord): Row | undefined {
    return this.index.prepare<unknown[], Row>('SELECT * FROM files WHERE source = ? AND id = ?').get(source, id);
  }

  private note({ source, id }: FileRecord, { hash, contentType, reason }: Row): void {
    this.index
      .prepare('INSERT OR REPLACE INTO files (source, id, hash, contentType, reason) VALUES (?, ?, ?, ?, ?)')
      .run(source, id, hash, contentType, reason);
  }

  private async download(record: FileRecord, url: string): Promise<void> {
    const host = isParsableUrl(url) ? new URL(url).host : '';
    try {
      const failures = this.failures.get(host) ?? 0;
      if (failures >= MAX_FAILURES) throw new DownloadFailed('the server cannot be reached', false);
      const { hash, contentType } = await this.attempt(record, url, 1);
      this.downloaded++;
      this.note(record, { hash, contentType, reason: '' });
      this.failures.delete(host);
    } catch (error) {
      if (!(error instanceof DownloadFailed)) throw error;
      const { reason, isFinal } = error;
      this.failed.set(reason, (this.failed.get(reason) ?? 0) + 1);
      if (isFinal) this.note(record, { hash: null, contentType: '', reason });
      else if (this.failures.has(host) || this.failures.size < MAX_HOSTS) {
        this.failures.set(host, (this.failures.get(host) ?? 0) + 1);
      }
    }
  }

  private async attempt(record: FileRecord, url: string, count: number): Promise<ReceivedFile> {
    try {
      return await this.receive(record, url);
    } catch (error) {
      if (!(error instanceof DownloadFailed) || error.isFinal || count >= ATTEMPTS) throw error;
      const { wait = delay } = this.options;
      await wait(Math.min(MAX_RETRY_MS, error.retryAfter === null ? RETRY_MS * count : error.retryAfter * 1000));
      return this.attempt(record, url, count + 1);
    }
  }

  private async receive(record: FileRecord, url: string): Promise<ReceivedFile> {
    const { status, contentType, retryAfter, body } = await this.request(url);
    try {
      if (status !== 200) {
        const isTemporary = status >= 500 || status === 408 || status === 429;
        throw new DownloadFailed(`the server returned ${status}`, !isTemporary, retryAfter);
      }
      const type = /^[\w.+-]{1,80}\/[\w.+-]{1,80}/.exec(contentType)?.[0].toLowerCase() ?? '';
      if (type === 'text/html' && (record.contentType ?? type) !== type) {
        throw new DownloadFailed('the server returned a web page instead of the file', true);
      }
      return { hash: await this.store(body), contentType: type || 'application/octet-stream' };
    } finally {
      body.destroy();
    }
  }

  /** Reasons contain no part of the URL, since it may contain a token. */
  private async request(url: string): Promise<FileResponse> {
    const { client, token } = this.options;
    if (!/^https?:\/\//.test(url) || !isParsableUrl(url)) throw new DownloadFailed('its URL is invalid', true);
    const headers = token !== null && this.mayReceiveToken(new URL(url)) ? { Authorization: `Bearer ${token}` } : {};
    try {
      return await client.open(url, headers);
    } catch (error) {
      if (error instanceof WebhookRefused) throw new DownloadFailed('its address is not on the public Internet', true);
      const { code } = error as { readonly code?: unknown };
      throw new DownloadFailed(`the server cannot be reached (${typeof code === 'string' ? code : 'timeout'})`, false);
    }
  }

  private mayReceiveToken({ protocol, hostname }: URL): boolean {
    const { tokenHosts } = this.options;
    return protocol === 'https:' && tokenHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
  }

  /** Returns the hash. */
  private async store(body: AsyncIterable<Uint8Array>): Promise<string> {
    const part = join(this.options.folder, `part-${randomUUID()}`);
    const file = await open(part, 'wx', 0o600);
    try {
      const hash = await this.write(file, body);
      await file.sync();
      await file.close();
      await rename(part, join(this.options.folder, hash));
      return hash;
    } catch (error) {
      await file.close();
      await rm(part, { force: true });
      throw error;
    }
  }

  private async write(file: FileHandle, body: AsyncIterable<Uint8Array>): Promise<string> {
    const { maxFileBytes, maxBytes } = this.options.limits ?? DOWNLOAD_LIMITS;
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of received(body)) {
      size += chunk.length;
      this.bytes += chunk.length;
      if (size > maxFileBytes) throw new DownloadFailed(`it is larger than ${maxFileBytes} bytes`, true);
      if (this.bytes > maxBytes) throw invalidImport(`The files are larger than ${maxBytes} bytes together.`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    return hash.digest('hex');
  }
}

/** Distinguishes broken connections from errors of the disk. */
async function* received(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    throw new DownloadFailed('the connection broke', false);
  }
}
