import type { IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { ReceivedBlob } from '@parley/domain/files';
import {
  type Body,
  type BodyRules,
  type Charge,
  ClientGone,
  type FileSink,
  MAX_FIELDS,
  MAX_FILES,
  NO_BODY,
} from '../limits/budgets.js';
import { bodyTooLarge, malformedPayload, requestTooSlow } from '../wire/reply.js';
import type { UploadedFile } from '../wire/request.js';

/** Collects received chunks in one buffer, because keeping each tiny chunk would cost hundreds of bytes. */
class Collector {
  private content: Buffer = Buffer.alloc(0);
  private isOwn = false;
  size = 0;

  /** @param expected declared length, if known */
  constructor(
    private readonly charge: Charge,
    private readonly expected = Number.POSITIVE_INFINITY,
  ) {}

  /** @throws HttpRefusal if the budget is exhausted */
  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (this.size === 0) {
      this.charge.add(chunk.length);
      this.content = chunk;
    } else {
      if (!this.isOwn || size > this.content.length) this.grow(size);
      chunk.copy(this.content, this.size);
    }
    this.size = size;
  }

  get bytes(): Buffer {
    return this.content.subarray(0, this.size);
  }

  private grow(needed: number): void {
    const capacity = Math.max(needed, Math.min(2 * needed, this.expected));
    this.charge.add(capacity - this.content.length);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.content.copy(grown, 0, 0, this.size);
    this.content = grown;
    this.isOwn = true;
  }
}

export const declaredLength = (message: IncomingMessage): number => Number(message.headers['content-length'] ?? 0);

/** Returns a body that has already arrived, as small bodies usually have; null if more is expected, or if it must be decoded. */
export function readAtOnce(message: IncomingMessage, { maxBytes, charge }: BodyRules): Buffer | null {
  const length = declaredLength(message);
  if (message.headers['content-encoding'] !== undefined) return null;
  if (length === 0 || length > maxBytes || message.readableLength !== length) return null;
  charge.add(length);
  const content = message.read() as Buffer;
  // Reads the stream to its end, which frees the connection.
  message.resume();
  return content;
}

/** Collects a stream of at most `limit` bytes until it ends or `fail` is called, and drops input after a failure. */
export function collect(stream: Readable, charge: Charge, limit: number, expected = limit) {
  let collector: Collector | undefined = new Collector(charge, expected);
  let fail!: (error: unknown) => void;
  const content = new Promise<Buffer>((resolve, reject) => {
    fail = (error) => {
      collector = undefined;
      charge.release();
      reject(error);
    };
    stream.on('data', (chunk: Buffer) => {
      if (!collector) return;
      if (collector.size + chunk.length > limit) return fail(bodyTooLarge());
      try {
        collector.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('end', () => collector && resolve(collector.bytes));
  });
  return { content, fail };
}

export async function readAll(message: IncomingMessage, { maxBytes, charge, timeoutMs }: BodyRules): Promise<Buffer> {
  const declared = declaredLength(message);
  if (declared > maxBytes) throw bodyTooLarge();
  const { content, fail } = collect(message, charge, maxBytes, declared || maxBytes);
  const deadline = setTimeout(() => fail(requestTooSlow()), timeoutMs);
  whenGone(message, fail);
  return content.finally(() => clearTimeout(deadline));
}

function whenGone(message: IncomingMessage, fail: (error: Error) => void): void {
  if (message.destroyed && !message.readableEnded) fail(new ClientGone());
  message.on('error', () => fail(new ClientGone()));
  message.on('close', () => {
    if (!message.readableEnded) fail(new ClientGone());
  });
}

/** @param content complete body in memory; null if it is still arriving */
export async function readMultipart(message: IncomingMessage, rules: BodyRules, content: Buffer | null): Promise<Body> {
  const { default: busboy } = await import('busboy');
  const { maxBytes, charge, timeoutMs, files: fileRules } = rules;
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    const files: UploadedFile[] = [];
    const receptions: Reception[] = [];
    const source = content ? null : message.pipe(new Batches());
    const deadline = content ? undefined : setTimeout(() => fail(requestTooSlow()), timeoutMs);
    const finish = (body: Body): void => {
      clearTimeout(deadline);
      // The request owns these blobs now, even if the connection drops.
      receptions.length = 0;
      resolve(body);
    };
    const fail = (error: unknown): void => {
      clearTimeout(deadline);
      for (const reception of receptions) reception.abort();
      source?.unpipe();
      source?.resume();
      charge.release();
      fileRules?.charge.release();
      reject(error);
    };
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    };
    let parser: ReturnType<typeof busboy>;
    try {
      parser = busboy({
        headers: message.headers,
        defParamCharset: 'utf8',
        limits: {
          fieldSize: maxBytes,
          // The parser marks a file of exactly the limit as truncated, so the limit is one byte higher.
          fileSize: fileRules ? fileRules.maxBytes + 1 : undefined,
          parts: MAX_FIELDS,
          files: MAX_FILES,
        },
      });
    } catch {
      return fail(malformedPayload());
    }
    let fieldBytes = 0;
    let fileBytes = 0;
    // The parser's types do not declare that a part may lack a name or have an unknown charset.
    parser.on('field', (name: string | undefined, value: string | undefined, info) => {
      if (name === undefined) return;
      if (value === undefined) return fail(malformedPayload());
      const bytes = name.length + value.length;
      fieldBytes += bytes;
      if (info.valueTruncated || fieldBytes > maxBytes) return fail(bodyTooLarge());
      fields.set(name, value);
      if (!content) attempt(() => charge.add(bytes));
    });
    parser.on('file', (field: string | undefined, stream, { filename, mimeType }) => {
      stream.on('error', () => {}); // the parser reports it
      if (!fileRules || field === undefined) {
        stream.resume();
        return;
      }
      const about = { field, filename: filename ?? '', mimeType };
      if (fileRules.sink) {
        // Operations use one file and only need to know if there were others.
        if (receptions.length > 0) {
          stream.resume();
          files.push({ ...about, content: NO_BYTES, blob: null, isTruncated: false });
          return;
        }
        const reception = new Reception(fileRules.sink, stream);
        receptions.push(reception);
        reception.done.then(
          ({ blob, isTruncated }) => files.unshift({ ...about, content: NO_BYTES, blob, isTruncated }),
          fail,
        );
        return;
      }
      const collector = new Collector(fileRules.charge, fileRules.maxBytes);
      let isTruncated = false;
      stream.on('limit', () => {
        isTruncated = true;
      });
      stream.on('data', (chunk: Buffer) => {
        fileBytes += chunk.length;
        if (fileBytes > 2 * fileRules.maxBytes) return fail(bodyTooLarge());
        attempt(() => collector.add(chunk));
      });
      stream.on('end', () => {
        files.push({ ...about, content: collector.bytes.subarray(0, fileRules.maxBytes), blob: null, isTruncated });
      });
    });
    for (const limit of ['partsLimit', 'filesLimit'] as const) parser.on(limit, () => fail(bodyTooLarge()));
    let isEmpty = content?.length === 0;
    if (!content) {
      isEmpty = true;
      message.once('data', () => {
        isEmpty = false;
      });
    }
    // zulip-js sends every POST as multipart and, without parameters, omits even the last boundary.
    parser.on('error', () => (isEmpty ? finish(NO_BODY) : fail(malformedPayload())));
    parser.on('close', () => {
      Promise.all(receptions.map(({ done }) => done)).then(() => finish({ fields, files }), fail);
    });
    if (source) {
      whenGone(message, fail);
      source.pipe(parser);
    } else parser.end(content);
  });
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** File part being streamed to storage. */
class Reception {
  /** Files above the limit are not kept. */
  readonly done: Promise<{ readonly blob: ReceivedBlob | null; readonly isTruncated: boolean }>;
  private isAborted = false;

  constructor(
    private readonly sink: FileSink,
    private readonly part: Readable & { readonly truncated?: boolean },
  ) {
    this.done = this.receive();
    // The request may already have failed without awaiting this promise.
    this.done.catch(() => undefined);
  }

  /** Discards the file. */
  abort(): void {
    this.isAborted = true;
    this.part.destroy(new ClientGone());
    // The file may already be complete. If this fails, the sweep deletes it.
    this.done.then(({ blob }) => blob && this.sink.discard(blob)).catch(() => undefined);
  }

  private async receive() {
    const blob = await this.sink.receive(this.part);
    const isTruncated = this.part.truncated ?? false;
    if (!isTruncated && !this.isAborted) return { blob, isTruncated };
    await this.sink.discard(blob);
    return { blob: null, isTruncated };
  }
}

const BATCH_BYTES = 16 * 1024;

/** Merges tiny chunks, each of which would cost the parser hundreds of bytes. */
class Batches extends Transform {
  private batch: Buffer = Buffer.alloc(0);
  private filled = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.filled + chunk.length > BATCH_BYTES) this.hand();
    if (chunk.length >= BATCH_BYTES) this.push(chunk);
    else {
      if (this.filled === 0) this.batch = Buffer.allocUnsafe(BATCH_BYTES);
      this.filled += chunk.copy(this.batch, this.filled);
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.hand();
    done();
  }

  private hand(): void {
    if (this.filled > 0) this.push(this.batch.subarray(0, this.filled));
    this.filled = 0;
  }
}
