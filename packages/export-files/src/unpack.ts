import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { DiskRoom, isDiskFull } from './disk-room.js';
import { wrong } from './shape.js';

export interface UnpackLimits {
  /** Of all files together. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Left on the disk, which a server may need as well. */
  readonly minFreeBytes: number;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** With less on the disk than that, a server says that it is not ready. */
const MIN_FREE_BYTES = 64 * MIB;
export const UNPACK_LIMITS: UnpackLimits = {
  maxBytes: 200 * GIB,
  maxFiles: 5_000_000,
  minFreeBytes: MIN_FREE_BYTES,
};

/** Deeper than anything in an export. */
const MAX_DEPTH = 12;
const MAX_NAME_LENGTH = 1000;

/**
 * Unpacks an export into a folder that is empty. Nothing is written outside of it; links and whatever else is no file are refused.
 * @throws DomainError INVALID_IMPORT; SERVER_BUSY where the disk has no room for it
 */
export async function unpack(
  path: string,
  folder: string,
  limits: UnpackLimits = UNPACK_LIMITS,
  room = new DiskRoom(folder, limits.minFreeBytes),
): Promise<void> {
  // What is unpacked is longer, but for a little.
  await room.require((await stat(path)).size);
  const archive = extract();
  let bytes = 0;
  let files = 0;
  const meter = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) done(wrong('The archive', `unpacks to more than ${limits.maxBytes} bytes`));
      else room.take(chunk.length).then(() => done(null, chunk), done);
    },
  });
  const isCompressed = !/\.tar$/.test(path);
  const source = createReadStream(path);
  // A stream of a kind that Node's types do not know, and its pipelines take.
  const sink = archive as unknown as NodeJS.WritableStream;
  const reading = isCompressed ? pipeline(source, createGunzip(), meter, sink) : pipeline(source, meter, sink);
  reading.catch(() => undefined);
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (type === 'directory') {
        entry.resume();
        continue;
      }
      if (type !== 'file' && type !== 'contiguous-file') throw wrong(`'${name}'`, 'is no file');
      if (++files > limits.maxFiles) throw wrong('The archive', `has more than ${limits.maxFiles} files`);
      const target = join(folder, ...safeSegments(name));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await pipeline(entry, createWriteStream(target, { mode: 0o600, flags: 'wx' }));
    }
    await reading;
  } catch (error) {
    source.destroy();
    if (isDiskFull(error)) throw await room.refusal();
    throw isDamage(error) ? wrong('The archive', `is damaged: ${(error as Error).message}`) : error;
  }
}

/** @throws DomainError INVALID_IMPORT for a name that leads anywhere else */
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
