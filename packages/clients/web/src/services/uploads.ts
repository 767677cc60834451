import { type Destination, destinationKey } from '@parley/chat';
import { type CallOptions, ParleyError } from '@parley/client';
import { type ReadonlySignal, type Signal, signal } from '@preact/signals-core';

/** File that is uploaded or rejected, or waits for files chosen before it. */
export interface UploadRow {
  readonly id: number;
  readonly name: string;
  readonly file: File;
  /** Interrupted uploads continue automatically. */
  readonly state: 'waiting' | 'sending' | 'interrupted' | 'failed';
  /** Uploaded fraction, from 0 to 1. */
  readonly progress: number;
  readonly failure: UploadFailure | null;
  /** Address of the uploaded file. */
  readonly url: string | null;
}

/** Error of the page, or error from the server. */
export type UploadFailure = 'empty' | 'too-large' | 'too-many' | ParleyError;

/** Conversation, or name of another field, that receives the uploads. */
export type UploadPlace = Destination | string;

/** Files of one place. */
export interface UploadList {
  readonly rows: readonly UploadRow[];
  /** Uploaded files not yet added to a message. */
  readonly done: readonly UploadedFile[];
}

export interface UploadedFile {
  readonly name: string;
  /** Begins with `/user_uploads/`. */
  readonly url: string;
}

/** Sends a file and returns its address. */
export type SendFile = (file: File, options: SendOptions) => Promise<string>;

export interface SendOptions extends CallOptions {
  /** Called when the connection is lost and will be retried. */
  readonly onInterrupted?: () => void;
}

/** Maximum number of waiting, uploading and failed files per conversation. */
export const MAX_FILES = 20;
const MAX_AT_ONCE = 2;
/** Timeout per file, sufficient for 100 MiB over a slow connection. */
const TIMEOUT_MS = 60 * 60 * 1000;
const BYTES_PER_MIB = 1024 * 1024;
const NOTHING: UploadList = { rows: [], done: [] };
/** Maximum number of uploaded files with known content. */
const MAX_UPLOADED = 100;

interface Upload {
  readonly key: string;
  readonly file: File;
  readonly abort: AbortController;
}

/** Uploads by conversation. They continue while another conversation is open. */
export class Uploads {
  private readonly lists = new Map<string, Signal<UploadList>>();
  private readonly uploads = new Map<number, Upload>();
  /** Last uploaded files by address. */
  private readonly uploaded = new Map<string, File>();
  private lastId = 0;

  constructor(
    private readonly send: SendFile,
    private readonly maxMebibytes: () => number,
  ) {}

  of(place: UploadPlace): ReadonlySignal<UploadList> {
    return this.at(keyOf(place));
  }

  /** True while uploads are pending or not yet added to a message. */
  isBusy(): boolean {
    return [...this.lists.values()].some((list) => {
      const { rows, done } = list.peek();
      return done.length > 0 || rows.some(({ state }) => state !== 'failed');
    });
  }

  /** Starts uploads; unacceptable files are listed with the reason. */
  add(place: UploadPlace, files: readonly File[]): void {
    const key = keyOf(place);
    for (const file of files) {
      const { rows } = this.at(key).peek();
      // The last row shows that there were more.
      if (rows.length > MAX_FILES) break;
      const id = ++this.lastId;
      const failure = rows.length === MAX_FILES ? 'too-many' : this.reasonAgainst(file);
      const state = failure === null ? 'waiting' : 'failed';
      if (failure === null) this.uploads.set(id, { key, file, abort: new AbortController() });
      this.change(key, (list) => ({
        ...list,
        rows: [...list.rows, { id, name: file.name, file, state, progress: 0, failure, url: null }],
      }));
    }
    this.next();
  }

  /** Aborts an upload, or removes a failed one. */
  remove(place: UploadPlace, id: number): void {
    this.uploads.get(id)?.abort.abort();
    this.forget(keyOf(place), id);
    this.release(keyOf(place));
    this.next();
  }

  /** Retries a failed upload; unacceptable files stay. */
  retry(place: UploadPlace, id: number): void {
    this.row(keyOf(place), id, { state: 'waiting', progress: 0, failure: null });
    this.next();
  }

  canRetry(id: number): boolean {
    return this.uploads.has(id);
  }

  /** Returns the uploaded files not yet added to a message, once. */
  take(place: UploadPlace): readonly UploadedFile[] {
    const key = keyOf(place);
    const { done } = this.at(key).peek();
    if (done.length > 0) this.change(key, (list) => ({ ...list, done: [] }));
    return done;
  }

  /** Content of a file that this page has uploaded; null if unknown. */
  contentOf(url: string): File | null {
    return this.uploaded.get(url) ?? null;
  }

  private reasonAgainst(file: File): UploadFailure | null {
    if (file.size === 0) return 'empty';
    return file.size > this.maxMebibytes() * BYTES_PER_MIB ? 'too-large' : null;
  }

  private next(): void {
    const all = [...this.lists].flatMap(([key, list]) => list.peek().rows.map((row) => ({ key, row })));
    let free =
      MAX_AT_ONCE -
      all.filter(({ row }) => row.url === null && (row.state === 'sending' || row.state === 'interrupted')).length;
    for (const { key, row } of all) {
      if (free <= 0) return;
      if (row.state !== 'waiting') continue;
      free--;
      void this.start(key, row.id);
    }
  }

  private async start(key: string, id: number): Promise<void> {
    const { file, abort } = this.uploads.get(id)!;
    this.row(key, id, { state: 'sending' });
    try {
      const url = await this.send(file, {
        signal: abort.signal,
        timeoutMs: TIMEOUT_MS,
        onProgress: (sent, total) => this.row(key, id, { state: 'sending', progress: total === 0 ? 0 : sent / total }),
        onInterrupted: () => this.row(key, id, { state: 'interrupted' }),
      });
      if (abort.signal.aborted) return;
      this.uploads.delete(id);
      this.uploaded.set(url, file);
      if (this.uploaded.size > MAX_UPLOADED) this.uploaded.delete(this.uploaded.keys().next().value!);
      this.row(key, id, { state: 'sending', progress: 1, url });
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof ParleyError)) throw error;
      this.row(key, id, { state: 'failed', failure: error });
    } finally {
      this.release(key);
      this.next();
    }
  }

  /** Releases files in the order in which they were chosen. A failed file holds back none. */
  private release(key: string): void {
    this.change(key, ({ rows, done }) => {
      const pending = rows.findIndex(({ url, state }) => url === null && state !== 'failed');
      const isReleased = ({ url }: UploadRow, at: number) => url !== null && (pending === -1 || at < pending);
      return {
        rows: rows.filter((row, at) => !isReleased(row, at)),
        done: [...done, ...rows.filter(isReleased).map(({ name, url }) => ({ name, url: url! }))],
      };
    });
  }

  private forget(key: string, id: number): void {
    this.uploads.delete(id);
    this.change(key, (list) => ({ ...list, rows: list.rows.filter((row) => row.id !== id) }));
  }

  private row(key: string, id: number, changed: Partial<UploadRow>): void {
    this.change(key, (list) => ({
      ...list,
      rows: list.rows.map((row) => (row.id === id ? { ...row, ...changed } : row)),
    }));
  }

  private change(key: string, change: (list: UploadList) => UploadList): void {
    const list = this.at(key);
    list.value = change(list.peek());
  }

  private at(key: string): Signal<UploadList> {
    const known = this.lists.get(key);
    if (known) return known;
    const list: Signal<UploadList> = signal(NOTHING);
    this.lists.set(key, list);
    return list;
  }
}

/** Markdown link; brackets in the name would end it early. */
export const linkTo = (name: string, url: string): string =>
  `[${name.replaceAll('[', '(').replaceAll(']', ')')}](${url})`;

const keyOf = (place: UploadPlace): string => (typeof place === 'string' ? place : destinationKey(place));
