import { createHash } from 'node:crypto';
import type { Agent, AgentOptions } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import type {
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
  ListObjectVersionsCommandInput,
  ListObjectVersionsCommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import { type BlobKey, type BlobStore, type ByteRange, isBlobKey, type StoredBlob } from '@parley/domain/files';
import { DomainError, loadOptional } from '@parley/domain/kernel';
import { type FilesListener, hashing, type StoredListener } from './durable-files.js';

const require = createRequire(import.meta.url);

export interface S3Location {
  readonly bucket: string;
  /** Prefix of every key: `parley/`; may be empty. */
  readonly prefix: string;
  /** Endpoint of another service with the bucket in the path; null for Amazon. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Null to use the client's default from the environment or the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/**
 * Size of one part; two are sent concurrently. Determines the memory per upload and the maximum file size of ten
 * thousand parts.
 */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_A_TIME = 2;
/**
 * Bytes per request. A connection waiting for a slow reader is unavailable to others. Short pieces are buffered, and
 * only fast readers get the rest streamed for a limited time.
 */
const READ = { short: 512 * 1024, long: 8 * 1024 * 1024 } as const;
const QUICK_MS = 100;
interface S3Limits {
  /** Maximum number of concurrent connections. */
  readonly connections: number;
  /** Connect timeout; the client retries twice. */
  readonly connectMs: number;
  /** Timeout for the start of a response, including a sent part, and between chunks. */
  readonly answerMs: number;
  /** Maximum time for which one reader's stream occupies a connection. */
  readonly readerMs: number;
  /** Timeout of a check. */
  readonly checkMs: number;
}

const LIMITS: S3Limits = { connections: 200, connectMs: 10_000, answerMs: 60_000, readerMs: 2000, checkMs: 5000 };

/** Creates the agent for requests to a URL through a proxy; null for direct requests. */
type AgentFactory = (url: string, options: AgentOptions) => Agent | null;

/** Object below the store's prefix. */
interface BucketObject {
  readonly name: string;
  readonly size: number;
  readonly storedAtMs: number;
}

/** Content of an object below the store's prefix. */
interface OpenObject {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Stores blobs as objects in a bucket of any S3-compatible service. The client is loaded on first use, since that is slow. */
export class S3BlobStore implements BlobStore {
  private loaded: ReturnType<typeof loadClient> | undefined;

  private readonly limits: S3Limits;
  private currentProblem: string | null = null;
  private claim: (() => Promise<void>) | null = null;
  private isClaimed = true;

  /** @throws MissingLibrary */
  constructor(
    private readonly location: S3Location,
    limits: Partial<S3Limits> = {},
    private readonly onProblem: FilesListener = () => {},
    private readonly agentFor: AgentFactory = () => null,
    private readonly onStored?: StoredListener,
  ) {
    this.limits = { ...LIMITS, ...limits };
    loadOptional('@aws-sdk/client-s3 @aws-sdk/lib-storage', 'files: s3', () => {
      require.resolve('@aws-sdk/client-s3');
      require.resolve('@aws-sdk/lib-storage');
    });
  }

  get bucket(): string {
    return this.location.bucket;
  }

  /** Reason why the bucket fails; null if it works. Any request sets the reason, but only `check` removes it. */
  get problem(): string | null {
    return this.currentProblem;
  }

  /**
   * Rejects all requests until `check` has called `claim`, and again once the bucket is absent, because a new one may
   * belong to others.
   */
  claimBy(claim: () => Promise<void>): void {
    this.claim = claim;
    this.isClaimed = false;
  }

  /** Rejects all requests until `claim` succeeds again, because another database has taken the bucket over. */
  lose(): void {
    this.isClaimed = false;
    this.check().catch(() => {});
  }

  /** Finds out whether the bucket exists and accepts the credentials, and claims it. @throws Error for the operator */
  async check(): Promise<void> {
    const { s3, sdk } = this.client();
    const { checkMs } = this.limits;
    try {
      const abortSignal = AbortSignal.timeout(checkMs);
      await s3.send(new sdk.HeadBucketCommand({ Bucket: this.bucket }), { abortSignal });
    } catch (error) {
      if (error instanceof DomainError) throw error.cause;
      const reason = isAbort(error) ? `no response within ${checkMs / 1000} s` : reasonOf(error);
      throw this.fail(reason, error);
    }
    if (!this.isClaimed) {
      try {
        await this.claim?.();
      } catch (error) {
        this.show((error as Error).message);
        throw error;
      }
      this.isClaimed = true;
    }
    this.show(null);
  }

  async put(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number> {
    try {
      return await this.complete(key, content);
    } catch (error) {
      // The garbage collection of blobs removes what is left; the caller gets the first error.
      await this.remove(key).catch(() => undefined);
      throw error;
    }
  }

  /** Stores content like `put`, but keeps an existing blob if the content is interrupted. */
  async complete(key: BlobKey, content: AsyncIterable<Uint8Array>): Promise<number> {
    const { s3, Upload } = this.client();
    const target = this.targetOf(key);
    const hash = createHash('sha256');
    let size = 0;
    let broken: { readonly error: unknown } | undefined;
    const counted = async function* () {
      try {
        for await (const chunk of hashing(content, hash)) {
          size += chunk.length;
          yield chunk;
        }
      } catch (error) {
        // A failed request destroys the body, which throws here too.
        if (!body.destroyed) broken = { error };
        throw error;
      }
    };
    const body = Readable.from(counted(), { objectMode: false });
    // Aborts the upload if the content is interrupted; if that fails, `removeUnfinished` removes the parts later.
    const upload = new Upload({
      client: s3,
      params: { ...target, Body: body },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_A_TIME,
    });
    try {
      await upload.done();
    } catch (error) {
      body.destroy();
      throw broken ? broken.error : error;
    }
    await this.onStored?.(key, hash.digest('hex'));
    return size;
  }

  async sizeOf(key: BlobKey): Promise<number | null> {
    const { s3, sdk } = this.client();
    try {
      return (await s3.send(new sdk.HeadObjectCommand(this.targetOf(key)))).ContentLength ?? 0;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async *read(key: BlobKey, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    let isQuick = false;
    for (let at = start; at < end; ) {
      const from = at;
      if (isQuick) {
        for await (const piece of this.stream(key, { start: at, end: Math.min(at + READ.long, end) })) {
          at += piece.length;
          yield piece;
        }
        isQuick = at === Math.min(from + READ.long, end);
      } else {
        const body = await this.get(key, { start: at, end: Math.min(at + READ.short, end) });
        const piece = await body.transformToByteArray();
        at += piece.length;
        if (at === from) throw new Error('The bucket returned fewer bytes of a blob than announced');
        const handedOutAt = performance.now();
        yield piece;
        isQuick = performance.now() - handedOutAt < QUICK_MS;
      }
    }
  }

  /** Streams content, buffering less for slow readers. */
  private async *stream(key: BlobKey, range: ByteRange): AsyncGenerator<Uint8Array> {
    const body = await this.get(key, range);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      body.destroy();
    }, this.limits.readerMs);
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      if (!isLate) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async get(key: BlobKey, { start, end }: ByteRange) {
    const { s3, sdk } = this.client();
    const Range = `bytes=${start}-${end - 1}`;
    const { Body } = await s3.send(new sdk.GetObjectCommand({ ...this.targetOf(key), Range }));
    // The type also covers browser streams.
    return Body as Readable & { transformToByteArray(): Promise<Uint8Array> };
  }

  async remove(key: BlobKey): Promise<void> {
    const { s3, sdk } = this.client();
    await s3.send(new sdk.DeleteObjectCommand(this.targetOf(key)));
  }

  /** Removes parts of uploads interrupted by a server exit, but not those of other bucket users. */
  async removeUnfinished(beforeMs: number): Promise<void> {
    const { s3, sdk } = this.client();
    const { bucket: Bucket, prefix: Prefix } = this.location;
    for (let from: ListMultipartUploadsCommandInput | null = { Bucket, Prefix }; from; ) {
      const page: ListMultipartUploadsCommandOutput = await s3.send(new sdk.ListMultipartUploadsCommand(from));
      for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
        const isOurs = Key.startsWith(Prefix) && isBlobKey(Key.slice(Prefix.length));
        if (!isOurs || !Initiated || Initiated.getTime() >= beforeMs) continue;
        await s3.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
      }
      const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      // Without a next position, a service would return the first page forever.
      from = IsTruncated && KeyMarker ? { Bucket, Prefix, KeyMarker, UploadIdMarker } : null;
    }
  }

  async list(after: BlobKey | null, limit: number): Promise<readonly StoredBlob[]> {
    const { s3, sdk } = this.client();
    const { bucket: Bucket, prefix: Prefix } = this.location;
    const from = after === null ? {} : { StartAfter: Prefix + after };
    const found: StoredBlob[] = [];
    for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client: s3 }, { Bucket, Prefix, ...from })) {
      for (const { Key = '', LastModified } of Contents) {
        const key = Key.slice(Prefix.length);
        // Buckets may contain other objects.
        if (isBlobKey(key)) found.push({ key, storedAtMs: LastModified?.getTime() ?? 0 });
      }
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Stores a small object that is not a blob. */
  async putObject(name: string, Body: Uint8Array): Promise<void> {
    const { s3, sdk } = this.client();
    await s3.send(new sdk.PutObjectCommand({ ...this.objectOf(name), Body }));
  }

  async *readObject(name: string): AsyncGenerator<Uint8Array> {
    yield* await this.open(name);
  }

  private async open(name: string, VersionId?: string): Promise<AsyncIterable<Uint8Array>> {
    const { s3, sdk } = this.client();
    const { Body } = await s3.send(
      new sdk.GetObjectCommand({ ...this.objectOf(name), ...(VersionId && { VersionId }) }),
    );
    return Body as Readable;
  }

  /** Opens all objects below the prefix. The contents must be read. */
  async *openAll(): AsyncGenerator<OpenObject> {
    for await (const { name } of this.listObjects('', null)) {
      const content = await this.open(name).catch(nullIfMissing);
      if (content) yield { name, content };
    }
  }

  /** Opens all versions that later versions or deletions hide. The contents must be read. @throws Error if the service lists none */
  async *openEarlierVersions(): AsyncGenerator<OpenObject> {
    const { s3, sdk } = this.client();
    const { bucket: Bucket, prefix: Prefix } = this.location;
    for (let from: ListObjectVersionsCommandInput | null = { Bucket, Prefix }; from; ) {
      const page: ListObjectVersionsCommandOutput = await s3.send(new sdk.ListObjectVersionsCommand(from));
      for (const { Key = '', VersionId, IsLatest } of page.Versions ?? []) {
        if (IsLatest) continue;
        const name = Key.slice(Prefix.length);
        const content = await this.open(name, VersionId).catch(nullIfMissing);
        if (content) yield { name: `${name}, version ${VersionId}`, content };
      }
      const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
      from = IsTruncated && KeyMarker ? { Bucket, Prefix, KeyMarker, VersionIdMarker } : null;
    }
  }

  async removeObject(name: string): Promise<void> {
    const { s3, sdk } = this.client();
    await s3.send(new sdk.DeleteObjectCommand(this.objectOf(name)));
  }

  /** Returns objects by name that start with `prefix` and sort after `after`. */
  async *listObjects(prefix: string, after: string | null): AsyncGenerator<BucketObject> {
    const { s3, sdk } = this.client();
    const { bucket: Bucket, prefix: own } = this.location;
    const from = after === null ? {} : { StartAfter: own + after };
    const pages = sdk.paginateListObjectsV2({ client: s3 }, { Bucket, Prefix: own + prefix, ...from });
    for await (const { Contents = [] } of pages) {
      for (const { Key = '', Size = 0, LastModified } of Contents) {
        yield { name: Key.slice(own.length), size: Size, storedAtMs: LastModified?.getTime() ?? 0 };
      }
    }
  }

  private objectOf(name: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.location;
    return { Bucket: bucket, Key: prefix + name };
  }

  private targetOf(key: BlobKey): { readonly Bucket: string; readonly Key: string } {
    if (!isBlobKey(key)) throw new Error('Invalid blob key');
    return this.objectOf(key);
  }

  private client() {
    this.loaded ??= loadClient(this.location, this.limits, this.agentFor, {
      fail: (reason, error) => this.fail(reason, error),
      isUsable: () => this.isClaimed,
    });
    return this.loaded;
  }

  private fail(reason: string, cause: unknown): Error {
    const problem = `The bucket ${this.bucket} cannot be used: ${reason}`;
    if (this.claim && statusOf(cause) === 404) this.isClaimed = false;
    this.show(problem);
    return new Error(problem, { cause });
  }

  private show(problem: string | null): void {
    const hasChanged = (problem === null) !== (this.currentProblem === null);
    this.currentProblem = problem;
    if (hasChanged) this.onProblem(problem);
  }
}

function loadClient(
  { bucket, region, endpoint, credentials }: S3Location,
  { connections, connectMs, answerMs }: S3Limits,
  agentFor: AgentFactory,
  { fail, isUsable }: { readonly fail: (reason: string, cause: unknown) => Error; readonly isUsable: () => boolean },
) {
  const sdk = require('@aws-sdk/client-s3') as typeof import('@aws-sdk/client-s3');
  const { Upload } = require('@aws-sdk/lib-storage') as typeof import('@aws-sdk/lib-storage');
  const agent = agentFor(endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`, {
    keepAlive: true,
    maxSockets: connections,
  });
  const s3: S3Client = new sdk.S3Client({
    region,
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Not every service supports Amazon's newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: agent ?? { maxSockets: connections },
      httpsAgent: agent ?? { maxSockets: connections },
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: answerMs,
    },
  });
  s3.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName !== 'HeadBucketCommand' && !isUsable()) throw new DomainError('STORAGE_UNAVAILABLE', AWAY);
        try {
          return await next(request);
        } catch (error) {
          if (!isFailure(error)) throw error;
          throw Object.assign(new DomainError('STORAGE_UNAVAILABLE', AWAY), { cause: fail(reasonOf(error), error) });
        }
      },
    { step: 'initialize', name: 'sayWhichBucket' },
  );
  s3.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request);
      const { statusCode, body } = result.response as { readonly statusCode: number; body?: AsyncIterable<Uint8Array> };
      if (statusCode >= 300 && body)
        Object.assign(result.response as object, { body: Readable.from(beginningOf(body)) });
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'readShortRefusals' },
  );
  return { s3, sdk, Upload };
}

/** Maximum bytes of an error response, which the client would read to its end. */
const REFUSAL_BYTES = 256 * 1024;

async function* beginningOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of body) {
    yield chunk;
    length += chunk.length;
    if (length > REFUSAL_BYTES) return;
  }
}

/** Text for people. */
const AWAY = 'The files are not available; try again in a moment.';

type ServiceError = Error & { readonly $metadata?: { readonly httpStatusCode?: number } };

const statusOf = (error: unknown): number | undefined => (error as ServiceError).$metadata?.httpStatusCode;

const isAbort = (error: unknown): boolean => (error as Error).name === 'AbortError';

/** True if the bucket cannot be reached or refuses every request, rather than this one. */
function isFailure(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined) return !isAbort(error) && !(error instanceof DomainError);
  return status >= 500 || status === 401 || status === 403 || (error as Error).name === 'NoSuchBucket';
}

function reasonOf(error: unknown): string {
  const status = statusOf(error);
  const { name, message } = error as Error;
  if (status === undefined) return message || 'no response';
  // Responses without a body, such as those to HEAD, have no message.
  if (message !== '' && message !== 'UnknownError') return `${status} ${name}: ${message}`;
  if (status !== 401 && status !== 403) return `${status} ${name}`;
  return `${status} Forbidden: the credentials are wrong or do not permit the use of the bucket`;
}

function isMissing(error: unknown): boolean {
  const { name } = error as Error;
  return name === 'NotFound' || name === 'NoSuchKey' || (statusOf(error) === 404 && name !== 'NoSuchBucket');
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
