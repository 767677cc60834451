import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { lstat, mkdir, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { DomainError } from '@parley/domain/kernel';
import { extract } from 'tar-stream';
import { parseJson, wrong } from './parley-shapes.js';

const MIB = 1024 ** 2;
/** Seconds; the operator has to free disk space first. */
const RETRY_AFTER = 60;
/** Number of bytes written between disk space checks. */
const LOOK_EVERY_BYTES = 16 * MIB;

/** Monitors free disk space during a long write and reserves some of it for other uses. */
export class DiskRoom {
  private unseen = 0;

  constructor(
    private readonly folder: string,
    private readonly minFreeBytes: number,
    private readonly freeBytesOf: (folder: string) => Promise<number> = freeBytes,
  ) {}

  /** @throws DomainError SERVER_BUSY if less space is available, before anything is written */
  async require(bytes: number): Promise<void> {
    if ((await this.freeBytesOf(this.folder)) < bytes + this.minFreeBytes) throw await this.refusal(bytes);
  }

  /** Called before each write. @throws DomainError SERVER_BUSY if the reserve would soon be used up */
  async take(bytes: number): Promise<void> {
    this.unseen += bytes;
    if (this.unseen < LOOK_EVERY_BYTES) return;
    await this.require(this.unseen);
    this.unseen = 0;
  }

  /** `bytes`: required space, if known. */
  async refusal(bytes = 0): Promise<DomainError> {
    const free = Math.floor((await this.freeBytesOf(this.folder)) / MIB);
    const needed = Math.ceil((bytes + this.minFreeBytes) / MIB);
    return new DomainError(
      'SERVER_BUSY',
      `Not enough space in ${this.folder}: at least ${needed} MiB more are needed, ${free} are free.`,
      { retryAfter: RETRY_AFTER },
    );
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Error codes that mean a full disk, including quotas and file size limits of the process. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export const isDiskFull = (error: unknown): boolean => FULL.has((error as NodeJS.ErrnoException).code ?? '');

/** Maximum size of a document read as a whole, below the maximum string length of JavaScript. */
const MAX_DOCUMENT_BYTES = 500 * 1024 ** 2;

/** Resolves a path and rejects one outside the folder. @throws DomainError INVALID_IMPORT */
export function pathIn(root: string, folder: string, path: string): string {
  const segments = path.split('/');
  const isBad =
    segments.some((segment) => segment === '' || segment === '.' || segment === '..') || /[\\\0]/.test(path);
  if (isBad) throw wrong(`The path '${path}'`, 'cannot be that of a file');
  return join(root, folder, ...segments);
}

/** Returns null for a missing file, a link or a file behind a link, which could lead to private files. */
export async function findFile(root: string, path: string): Promise<Stats | null> {
  const found = await lstat(path).catch(() => null);
  if (!found?.isFile()) return null;
  const isInside = (await realpath(path)) === join(await realpath(root), path.slice(root.length));
  return isInside ? found : null;
}

/** Reads lines sequentially. @throws DomainError INVALID_IMPORT if a line is too long or the file is missing */
export async function* readLines(root: string, name: string, maxLength = MAX_DOCUMENT_BYTES): AsyncGenerator<string> {
  const path = join(root, name);
  if (!(await findFile(root, path))) throw wrong('The export', `has no ${name}`);
  let pending = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const [first, ...others] = chunk.split('\n');
    if (pending.length + first!.length > maxLength) {
      throw wrong(name, `has a line of more than ${maxLength} characters`);
    }
    pending += first;
    for (const next of others) {
      yield pending;
      pending = next;
    }
  }
  yield pending;
}

export async function readDocument(root: string, name: string): Promise<unknown> {
  return parseJson(await readText(root, name), name);
}

export async function readText(root: string, name: string): Promise<string> {
  const path = join(root, name);
  const found = await findFile(root, path);
  if (!found) throw wrong('The export', `has no ${name}`);
  if (found.size > MAX_DOCUMENT_BYTES) throw wrong(name, `has more than ${MAX_DOCUMENT_BYTES} bytes`);
  return readFile(path, 'utf8');
}

/** Decompressed size divided by compressed size. JSON stays below 100. */
const MAX_RATIO = 300;
const MIN_RATIO_BYTES = MIB;

/** Returns the reason to reject compressed data, as in zip bombs; null for plausible sizes. */
export const expansionProblem = (bytes: number, compressedBytes: number): string | null =>
  bytes > Math.max(MIN_RATIO_BYTES, MAX_RATIO * compressedBytes)
    ? `expands to more than ${MAX_RATIO} times its size`
    : null;

export interface UnpackLimits {
  /** Maximum size of all files together. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Disk space reserved for other uses, such as a server. */
  readonly minFreeBytes: number;
}
const GIB = 1024 ** 3;
/** Below this free space, a server reports that it is not ready. */
const MIN_FREE_BYTES = 64 * MIB;
export const UNPACK_LIMITS: UnpackLimits = {
  maxBytes: 200 * GIB,
  maxFiles: 5_000_000,
  minFreeBytes: MIN_FREE_BYTES,
};

/** Limits that leave half of the free space, because an import stores most of the unpacked bytes a second time. */
export async function importLimits(folder: string, maxBytes = UNPACK_LIMITS.maxBytes): Promise<UnpackLimits> {
  return { ...UNPACK_LIMITS, maxBytes, minFreeBytes: Math.max(MIN_FREE_BYTES, (await freeBytes(folder)) / 2) };
}

/** Returns the error for an archive that is larger than `UnpackLimits.maxBytes`. */
export const unpacksTooLarge = (maxBytes: number): DomainError =>
  wrong('The archive', `unpacks to more than ${maxBytes} bytes`);

/** Deeper than any path in an export. */
const MAX_DEPTH = 12;
const MAX_NAME_LENGTH = 1000;

/**
 * Unpacks an export into an empty folder. Never writes outside of it; rejects links and other special files.
 * @throws DomainError INVALID_IMPORT; SERVER_BUSY if the disk has too little space
 */
export async function unpack(
  path: string,
  folder: string,
  limits: UnpackLimits = UNPACK_LIMITS,
  room = new DiskRoom(folder, limits.minFreeBytes),
): Promise<void> {
  // Unpacked data is normally larger than the archive.
  const { size } = await stat(path);
  await room.require(size);
  const archive = extract();
  let bytes = 0;
  let files = 0;
  const meter = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      bytes += chunk.length;
      const problem = expansionProblem(bytes, size);
      if (problem !== null) done(wrong('The archive', problem));
      else if (bytes > limits.maxBytes) done(unpacksTooLarge(limits.maxBytes));
      else room.take(chunk.length).then(() => done(null, chunk), done);
    },
  });
  const isCompressed = !/\.tar$/.test(path);
  const source = createReadStream(path);
  // Node's types do not cover this kind of stream, but its pipelines accept it.
  const sink = archive as unknown as NodeJS.WritableStream;
  const reading = isCompressed ? pipeline(source, createGunzip(), meter, sink) : pipeline(source, meter, sink);
  // An entry that was destroyed before its pipeline began never ends it.
  const failure = new AbortController();
  reading.catch((error) => failure.abort(error));
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (type === 'directory') {
        entry.resume();
        continue;
      }
      if (type !== 'file' && type !== 'contiguous-file') throw wrong(`'${name}'`, 'is not a file');
      if (++files > limits.maxFiles) throw wrong('The archive', `has more than ${limits.maxFiles} files`);
      const target = join(folder, ...safeSegments(name));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await pipeline(entry, createWriteStream(target, { mode: 0o600, flags: 'wx' }), { signal: failure.signal });
    }
    await reading;
  } catch (caught) {
    source.destroy();
    const error = failure.signal.aborted ? failure.signal.reason : caught;
    if (isDiskFull(error)) throw await room.refusal();
    throw isDamage(error) ? wrong('The archive', `is damaged: ${(error as Error).message}`) : error;
  }
}

/** @throws DomainError INVALID_IMPORT for a name that leads outside the folder */
function safeSegments(name: string): readonly string[] {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  const isBad =
    segments.length === 0 ||
    segments.length > MAX_DEPTH ||
    name.length > MAX_NAME_LENGTH ||
    name.startsWith('/') ||
    name.includes('\\') ||
    name.includes('\0') ||
    segments.includes('..');
  if (isBad) throw wrong(`The name '${name.slice(0, 200)}'`, 'cannot be that of a file of an export');
  return segments;
}

const DAMAGE = new Set(['Z_DATA_ERROR', 'Z_BUF_ERROR', 'EEXIST', 'ERR_STREAM_PREMATURE_CLOSE']);

function isDamage(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return DAMAGE.has(code ?? '') || /tar header|header exceeds max size|Unexpected end of data/i.test(message ?? '');
}

export const isFolder = async (path: string): Promise<boolean> => (await stat(path)).isDirectory();
