import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ExternalPicturePaths, ExternalPictures, ImageProcessor, ImageTarget } from '@parley/domain/files';
import { type Clock, DomainError, type RealmId, type UserId, type WorkOwner, WorkQueue } from '@parley/domain/kernel';
import { ResultCache } from './result-cache.js';
import type { PublicWebClient } from './web-client.js';

const HEXADECIMAL = /^(?:[0-9a-f]{2})+$/;

/** Paths in the form of Zulip's image proxy: HMAC-SHA1 and URL, in hexadecimal (markdown §15.1). */
export class HmacPicturePaths implements ExternalPicturePaths {
  private readonly key: Buffer;

  constructor(secret: string) {
    this.key = createHmac('sha256', secret).update('parley: pictures of other sites').digest();
  }

  pathOf(url: string): string {
    return `/external_content/${this.sign(url).toString('hex')}/${Buffer.from(url).toString('hex')}`;
  }

  urlOf(signature: string, encodedUrl: string): string | null {
    if (!HEXADECIMAL.test(encodedUrl)) return null;
    const url = Buffer.from(encodedUrl, 'hex').toString();
    const [given, expected] = [Buffer.from(signature, 'hex'), this.sign(url)];
    return given.length === expected.length && timingSafeEqual(given, expected) ? url : null;
  }

  private sign(url: string): Buffer {
    return createHmac('sha1', this.key).update(url).digest();
  }
}

const MAX_PICTURE_BYTES = 8 * 1024 * 1024;
/** Large enough for a card on a screen with twice the density. */
const TARGET: ImageTarget = { width: 640, height: 480, fit: 'inside', format: 'webp', maxFrames: 1 };
/** Pictures of other sites form one lane of the image queue, because all realms share them. */
const LANE: WorkOwner = { realmId: 0 as RealmId, userId: 0 as UserId };

const HOUR_SECONDS = 3600;
const RETRY_SECONDS = 300;
const ENTRY_BYTES = 500;

/** Downloads pictures of other sites and reduces them to small WebP files without metadata. */
export class WebPictures implements ExternalPictures {
  private readonly cache: ResultCache<Uint8Array | null>;
  private readonly queue = new WorkQueue({
    concurrency: 8,
    concurrencyPerClient: 2,
    maxWaiting: 100,
    maxWaitingPerClient: 20,
    refusal: () => new DomainError('SERVER_BUSY', 'Too many pictures are loading.', { retryAfter: 5 }),
  });

  constructor(
    private readonly client: PublicWebClient,
    private readonly images: ImageProcessor,
    clock: Pick<Clock, 'nowMs'>,
  ) {
    this.cache = new ResultCache(clock, {
      maxCount: 1000,
      maxBytes: 16 * 1024 * 1024,
      bytesOf: (picture) => ENTRY_BYTES + (picture?.length ?? 0),
      secondsOf: (picture) => (picture ? HOUR_SECONDS : RETRY_SECONDS),
    });
  }

  load(url: string): Promise<Uint8Array | null> {
    return this.cache.get(url, () =>
      // A slow site must not delay others.
      this.queue.run(new URL(url).host, () => this.read(url)),
    );
  }

  private async read(url: string): Promise<Uint8Array | null> {
    const image = await this.download(url).catch(() => null);
    if (image === null) return null;
    try {
      return (await this.images.resize(image, TARGET, LANE)).bytes;
    } catch (error) {
      if (error instanceof DomainError && error.kind !== 'unavailable') return null;
      throw error;
    }
  }

  /** Downloads content of any type: the image processor detects formats by their bytes, and rejects SVG. */
  private async download(url: string): Promise<Uint8Array | null> {
    const { status, body } = await this.client.get(url, 'image/*');
    try {
      if (status !== 200) return null;
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > MAX_PICTURE_BYTES) return null;
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } finally {
      body.destroy();
    }
  }
}
