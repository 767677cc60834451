import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import { type HttpRefusal, serverBusy, tooMuchAtOnce } from './reply.js';
import type { Fields, UploadedFile } from './request.js';

/**
 * How far the process is from its limits. `busy`: anonymous requests are refused; `overloaded`: expensive ones too, so that
 * what people do most goes on.
 */
export type LoadLevel = 'normal' | 'busy' | 'overloaded';

/** What requests are shed by. */
export interface LoadGauge {
  readonly level: LoadLevel;
}

export const noLoad: LoadGauge = { level: 'normal' };

const KIB = 1024;
const MIB = 1024 * KIB;

/** What requests, answers and connections may cost, each and all together. The one place for these numbers. */
export interface TransportLimits {
  /** Of a body but its files, in bytes, before its sender has proved who they are; only such a body can change the method. */
  readonly anonymousBodyBytes: number;
  /** The same once they have. */
  readonly bodyBytes: number;
  /** Of one file; a longer one is cut and marked. All files of one request together may take twice that. */
  readonly fileBytes: number;

  /** Of all bodies that are being received or worked on: anonymous ones, those of users, and files. */
  readonly anonymousBodiesBytes: number;
  readonly bodiesBytes: number;
  readonly filesBytes: number;
  /** Files that are being stored, and bytes of resumable uploads, at the same time: of a server, and of one user. */
  readonly uploads: number;
  readonly uploadsPerUser: number;
  /** Of all answers that their readers have not taken yet. What goes to several readers counts once. */
  readonly answersBytes: number;

  /** From connecting, or from a request's first byte, to the end of its headers. */
  readonly headersMs: number;
  /** For the body, files apart. */
  readonly bodyMs: number;
  /** For a body with files. */
  readonly filesMs: number;
  /** For a reader to take what is waiting for them, before its size is counted in: see `answerBytesPerSecond`. */
  readonly answerMs: number;
  /** Slower readers are dropped. */
  readonly answerBytesPerSecond: number;
  /** How long what still comes of a refused request is thrown away before its connection ends. */
  readonly lingerMs: number;

  /** Of a server. */
  readonly connections: number;
  /** Of one address, unless it is this machine's own or proxies stand in front. */
  readonly connectionsPerAddress: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  anonymousBodyBytes: 64 * KIB,
  bodyBytes: MIB,
  fileBytes: 100 * MIB,
  anonymousBodiesBytes: 16 * MIB,
  bodiesBytes: 128 * MIB,
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

/** The part of a budget that one client can have: others are to get something too, whatever one of them does. */
export const CLIENT_SHARE = 1 / 8;

/** Who the bytes are charged to: a user, or an address. */
export type ClientKey = string | number;

/**
 * Bytes, or whatever else is counted, that may be held at once, by everybody and by one client. Whoever wants more is refused: memory is never what
 * runs out.
 */
export class ByteBudget {
  private readonly ofClient = new Map<ClientKey, number>();
  private held = 0;

  /** `share`: of one client. */
  constructor(
    readonly total: number,
    private readonly share: number,
  ) {}

  get used(): number {
    return this.held;
  }

  /** `client`: null for what several of them hold together. Answers null when it was taken; else why it was not. */
  tryTake(client: ClientKey | null, bytes: number): HttpRefusal | null {
    if (client !== null && (this.ofClient.get(client) ?? 0) + bytes > this.share) return tooMuchAtOnce();
    if (this.held + bytes > this.total) return serverBusy();
    this.take(client, bytes);
    return null;
  }

  /** Whether or not there is room, for what cannot be refused any more. */
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

/** What one request holds of a budget, given back in one stroke. */
export class Charge {
  private bytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly client: ClientKey,
  ) {}

  /** @throws HttpRefusal 429 or 503 with `Retry-After`. */
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

/** Requests on one connection that wait for the answers before theirs. */
const MAX_PIPELINED = 8;

/** Requests that are not answered yet. */
export class RequestsInFlight {
  private readonly pending = new Set<IncomingMessage>();
  private readonly pipelined = new WeakMap<object, number>();
  private readonly onIdle: (() => void)[] = [];
  private hasEnded = false;

  get count(): number {
    return this.pending.size;
  }

  /** Since `drain` was called. */
  get isDraining(): boolean {
    return this.hasEnded;
  }

  add(raw: IncomingMessage): void {
    this.pending.add(raw);
  }

  delete(raw: IncomingMessage): void {
    this.pending.delete(raw);
    if (this.count > 0 || this.onIdle.length === 0) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }

  /** Resolves when there are none. What is not answered after so long loses its connection. */
  async drain(patienceMs: number): Promise<void> {
    this.hasEnded = true;
    if (this.count === 0) return;
    const impatience = setInterval(() => {
      for (const raw of this.pending) raw.socket.destroy();
    }, patienceMs);
    await new Promise<void>((resolve) => this.onIdle.push(resolve));
    clearInterval(impatience);
  }

  /** Resolves to true when the answers before its own are written, to false when the connection has ended. */
  turnOf(raw: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket } = raw;
    const waiting = (this.pipelined.get(socket) ?? 0) + 1;
    if (waiting > MAX_PIPELINED) socket.destroy();
    if (socket.destroyed) return Promise.resolve(false);
    this.pipelined.set(socket, waiting);
    return new Promise((resolve) => {
      const settle = () => {
        this.pipelined.set(socket, this.pipelined.get(socket)! - 1);
        response.off('socket', settle);
        raw.off('close', settle);
        resolve(!socket.destroyed);
      };
      response.once('socket', settle);
      raw.once('close', settle);
    });
  }
}

/** What a body may cost. */
export interface BodyRules {
  /** Of everything that is not a file. */
  readonly maxBytes: number;
  readonly charge: Charge;
  /** Until it is there as a whole. */
  readonly timeoutMs: number;
  /** Null: files are dropped, and count like everything else. */
  readonly files: FileRules | null;
}

export interface FileRules {
  /** Of one file; a longer one is cut and marked. All files together may take twice that. */
  readonly maxBytes: number;
  /** Of a body that says beforehand how long it is, beside what is no file: whatever is longer is not read. */
  readonly maxSentBytes: number;
  readonly charge: Charge;
  /** Takes the bytes of the first file as they come, which then are never in memory; null: they are kept in memory. */
  readonly sink: FileSink | null;
}

/** Where bytes go that are not to be in memory. */
export interface FileSink {
  /** Of one file; a longer one is not kept. */
  readonly maxBytes: number;
  /** Resolves once the bytes are safe; keeps nothing when the content breaks off. */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob>;
  discard(blob: ReceivedBlob): Promise<void>;
}

/** Bounds the work and memory a body of nothing but separators can cause. */
export const MAX_FIELDS = 1000;
export const MAX_FILES = 100;

export interface Body {
  readonly fields: Fields;
  readonly files: readonly UploadedFile[];
}

/** The client went away before its request was complete. Nobody is there to read an answer. */
export class ClientGone extends Error {}

export const NO_BODY: Body = { fields: new Map(), files: [] };
