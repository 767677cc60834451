import type { ReceivedBlob } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { type HttpRefusal, serverBusy, tooMuchAtOnce } from '../wire/reply.js';
import type { Fields, UploadedFile } from '../wire/request.js';
import type { YieldingScheduler } from './yielding.js';

/**
 * Load of the process. `busy` rejects anonymous requests; `overloaded` also rejects expensive ones to keep frequent
 * operations working.
 */
export type LoadLevel = 'normal' | 'busy' | 'overloaded';

/** Source of the load level used for shedding. */
export interface LoadGauge {
  readonly level: LoadLevel;
}

export const noLoad: LoadGauge = { level: 'normal' };

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of requests, responses and connections, individual and total. */
export interface TransportLimits {
  /** Maximum body without files before authentication, in bytes; only such bodies can change the method. */
  readonly anonymousBodyBytes: number;
  /** Maximum body without files after authentication. */
  readonly bodyBytes: number;
  /** Maximum body after authentication for routes of long bodies. */
  readonly longBodyBytes: number;
  /**
   * Maximum size of one file; longer files are truncated and marked. All files of a request together may take twice as
   * much.
   */
  readonly fileBytes: number;

  /** Total size of bodies in progress: anonymous, authenticated, and files. */
  readonly anonymousBodiesBytes: number;
  readonly bodiesBytes: number;
  /** Total size of bodies in progress longer than `bodyBytes`; each client may send one. */
  readonly longBodiesBytes: number;
  readonly filesBytes: number;
  /** Maximum number of concurrent file uploads, in total and per user, including parts of resumable uploads. */
  readonly uploads: number;
  readonly uploadsPerUser: number;
  /** Maximum unsent bytes of all responses; shared chunks count once. */
  readonly answersBytes: number;

  /** Time limit from connecting, or from the first byte of a request, to the end of headers. */
  readonly headersMs: number;
  /** Time limit for a body without files. */
  readonly bodyMs: number;
  /** Time limit for a body with files. */
  readonly filesMs: number;
  /** Base time limit for reading a response; extended by its size, see `answerBytesPerSecond`. */
  readonly answerMs: number;
  /** Minimum reading speed; slower clients are disconnected. */
  readonly answerBytesPerSecond: number;
  /** Time during which remaining input of a rejected request is discarded before the connection closes. */
  readonly lingerMs: number;

  /** Maximum number of connections of a server. */
  readonly connections: number;
  /** Maximum number of connections per address, except loopback or behind proxies. */
  readonly connectionsPerAddress: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  anonymousBodyBytes: 64 * KIB,
  bodyBytes: MIB,
  longBodyBytes: 25 * MIB,
  fileBytes: 100 * MIB,
  anonymousBodiesBytes: 16 * MIB,
  bodiesBytes: 128 * MIB,
  longBodiesBytes: 50 * MIB,
  filesBytes: 512 * MIB,
  uploads: 400,
  uploadsPerUser: 10,
  answersBytes: 256 * MIB,
  headersMs: 15_000,
  bodyMs: 30_000,
  filesMs: 600_000,
  answerMs: 30_000,
  answerBytesPerSecond: 16 * KIB,
  lingerMs: 5000,
  connections: 20_000,
  connectionsPerAddress: 5000,
};

/** Share of a budget available to one client, so that others always get a part of it. */
export const CLIENT_SHARE = 1 / 8;

/** Charged client: a user or an address. */
export type ClientKey = string | number;

/**
 * Limits the bytes, or other units, held at the same time, in total and per client. Rejects excess demand so that
 * memory never runs out.
 */
export class ByteBudget {
  private readonly ofClient = new Map<ClientKey, number>();
  private held = 0;

  /** @param share maximum per client */
  constructor(
    readonly total: number,
    private readonly share: number,
  ) {}

  get used(): number {
    return this.held;
  }

  /**
   * Reserves bytes; `client` is null for bytes held jointly by several clients. Returns null on success, else the
   * reason for rejection.
   */
  tryTake(client: ClientKey | null, bytes: number): HttpRefusal | null {
    if (client !== null && (this.ofClient.get(client) ?? 0) + bytes > this.share) return tooMuchAtOnce();
    if (this.held + bytes > this.total) return serverBusy();
    this.take(client, bytes);
    return null;
  }

  /** Reserves bytes unconditionally, for demand that can no longer be rejected. */
  take(client: ClientKey | null, bytes: number): void {
    this.held += bytes;
    if (client !== null) this.ofClient.set(client, (this.ofClient.get(client) ?? 0) + bytes);
  }

  release(client: ClientKey | null, bytes: number): void {
    this.held -= bytes;
    if (client === null) return;
    const left = (this.ofClient.get(client) ?? 0) - bytes;
    if (left > 0) this.ofClient.set(client, left);
    else this.ofClient.delete(client);
  }
}

/** Total charge of one request; all of it is released at once. */
export class Charge {
  private bytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly client: ClientKey,
  ) {}

  /** @throws HttpRefusal 429 or 503 with `Retry-After` */
  add(bytes: number): void {
    const refusal = this.budget.tryTake(this.client, bytes);
    if (refusal) throw refusal;
    this.bytes += bytes;
  }

  release(): void {
    if (this.bytes > 0) this.budget.release(this.client, this.bytes);
    this.bytes = 0;
  }
}

/** Limits of a request body. */
export interface BodyRules {
  /** Maximum size without files. */
  readonly maxBytes: number;
  readonly charge: Charge;
  /** Time limit for receiving the whole body. */
  readonly timeoutMs: number;
  /** Runs the steps that parse the body; null parses it in one step. */
  readonly scheduler: YieldingScheduler | null;
  /** True to keep the bytes instead of reading fields from them. */
  readonly isRaw?: boolean;
  /** Limits of files; if null, files are dropped but count towards `maxBytes`. */
  readonly files: FileRules | null;
}

export interface FileRules {
  /** Maximum size of one file; longer files are truncated and marked. All files together may take twice as much. */
  readonly maxBytes: number;
  /** Maximum declared body length in addition to non-file content; longer bodies are not read. */
  readonly maxSentBytes: number;
  readonly charge: Charge;
  /** Receives the first file as a stream; if null, files are kept in memory. */
  readonly sink: FileSink | null;
}

/** Destination of streamed files. */
export interface FileSink {
  /** Maximum size of one file; longer files are not kept. */
  readonly maxBytes: number;
  /** Returns a lower maximum of this user; infinite if there is none. */
  roomFor(user: { readonly realmId: RealmId; readonly userId: UserId }): Promise<number>;
  /** Resolves once the bytes are durable; keeps nothing if the content is interrupted. */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob>;
  discard(blob: ReceivedBlob): Promise<void>;
}

/** Maximum number of form fields, JSON members or form parts in a body. */
export const MAX_FIELDS = 1000;
export const MAX_FILES = 100;

export interface Body {
  readonly fields: Fields;
  readonly files: readonly UploadedFile[];
  /** Bytes of the whole body on routes that accept it unparsed. */
  readonly content?: Buffer;
}

/** Thrown if the client disconnected before its request was complete; no response is needed. */
export class ClientGone extends Error {}

export const NO_BODY: Body = { fields: new Map(), files: [] };
