import type { IncomingMessage } from 'node:http';
import { type BodyRules, ClientGone } from './body-rules.js';
import type { Charge } from './byte-budget.js';
import { bodyTooLarge, requestTooSlow } from './errors.js';

/** What is received piece by piece, in one buffer: pieces may be as small as a byte, which each cost hundreds to keep. */
export class Collector {
  private content: Buffer = Buffer.alloc(0);
  private isOwn = false;
  size = 0;

  /** `expected`: how much will come, if that is known. */
  constructor(
    private readonly charge: Charge,
    private readonly expected = Number.POSITIVE_INFINITY,
  ) {}

  /** @throws HttpRefusal when there is no room. */
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

/** A body that is there already, as small ones are by the time somebody looks at it; null: wait for it. */
export function readAtOnce(message: IncomingMessage, { maxBytes, charge }: BodyRules): Buffer | null {
  const length = declaredLength(message);
  if (length === 0 || length > maxBytes || message.readableLength !== length) return null;
  charge.add(length);
  const content = message.read() as Buffer;
  // So that it ends, which is what frees the connection.
  message.resume();
  return content;
}

export function readAll(message: IncomingMessage, { maxBytes, charge, timeoutMs }: BodyRules): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = declaredLength(message);
    if (declared > maxBytes) return reject(bodyTooLarge());
    let collector: Collector | undefined = new Collector(charge, declared || maxBytes);
    // What still comes is dropped, so that the client gets to read the answer.
    const fail = (error: unknown): void => {
      collector = undefined;
      clearTimeout(deadline);
      charge.release();
      reject(error);
    };
    const deadline = setTimeout(() => fail(requestTooSlow()), timeoutMs);
    message.on('data', (chunk: Buffer) => {
      if (!collector) return;
      if (collector.size + chunk.length > maxBytes) return fail(bodyTooLarge());
      try {
        collector.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    message.on('end', () => {
      clearTimeout(deadline);
      if (collector) resolve(collector.bytes);
    });
    whenGone(message, fail);
  });
}

export function whenGone(message: IncomingMessage, fail: (error: Error) => void): void {
  if (message.destroyed && !message.readableEnded) fail(new ClientGone());
  message.on('error', () => fail(new ClientGone()));
  message.on('close', () => {
    if (!message.readableEnded) fail(new ClientGone());
  });
}
