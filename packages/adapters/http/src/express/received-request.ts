import type { IncomingMessage, ServerResponse } from 'node:http';
import { entryFor, type Forwarding, type TrustedProxies } from '../security/proxies.js';
import {
  type ClientIdentity,
  type ClientVariant,
  Parameters,
  type PathParameters,
  parseUserAgent,
  type Request,
  type UploadedFile,
  variantOf,
} from '../wire/request.js';
import type { RequestTarget } from './target.js';

const NO_PATH_PARAMETERS: PathParameters = {};
const NO_FILES: readonly UploadedFile[] = [];
const hostOf = (authority: string): string => authority.replace(/:\d*$/, '');
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** Distinguishes processes that write to the same log. */
const processTag = Math.random().toString(36).slice(2, 8).padEnd(6, '0');
let received = 0;

/** Request from Node's HTTP server. The checks add their results; operations see a `Request`. */
export class ReceivedRequest implements Request {
  readonly id: string;
  method: string;
  pathParameters = NO_PATH_PARAMETERS;
  parameters = Parameters.none;
  files = NO_FILES;
  content: Buffer | null = null;
  csrfToken: string | null = null;
  private abortController: AbortController | undefined;
  private identity: ClientIdentity | undefined;
  private forwarding: Forwarding | undefined;

  constructor(
    readonly raw: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly target: RequestTarget,
    private readonly proxies: TrustedProxies,
  ) {
    this.method = raw.method ?? 'GET';
    const id = raw.headers['x-request-id'];
    this.id = typeof id === 'string' && REQUEST_ID.test(id) ? id : `${processTag}-${(++received).toString(36)}`;
  }

  header(name: string): string | undefined {
    const value = this.raw.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  get path(): string {
    return this.target.path;
  }

  get query(): string {
    return this.target.query;
  }

  get host(): string {
    return hostOf(this.authority);
  }

  get authority(): string {
    const forwarded = this.forwardedHeader('x-forwarded-host')?.toLowerCase() ?? '';
    return this.proxies.isPublic(hostOf(forwarded)) ? forwarded : (this.header('host') ?? '').toLowerCase();
  }

  get isSecure(): boolean {
    return this.forwardedHeader('x-forwarded-proto') === 'https' || 'encrypted' in this.raw.socket;
  }

  get realmAddress(): string {
    return this.target.realmPath ?? this.host;
  }

  get ip(): string {
    return this.forwarded.ip;
  }

  get client(): ClientIdentity {
    this.identity ??= parseUserAgent(this.raw.headers['user-agent']);
    return this.identity;
  }

  get variant(): ClientVariant {
    return variantOf(this.client);
  }

  /** True if the client disconnected before its response was complete. */
  get isGone(): boolean {
    return this.response.destroyed && !this.response.writableFinished;
  }

  onClose(listener: () => void): void {
    if (this.isGone) listener();
    else {
      this.response.once('close', () => {
        if (!this.response.writableFinished) listener();
      });
    }
  }

  onEnd(listener: () => void): void {
    if (this.response.closed) listener();
    else this.response.once('close', listener);
  }

  get signal(): AbortSignal {
    if (!this.abortController) {
      const controller = new AbortController();
      this.abortController = controller;
      this.onClose(() => controller.abort());
    }
    return this.abortController.signal;
  }

  private get forwarded(): Forwarding {
    this.forwarding ??= this.proxies.forwardingOf(this.raw);
    return this.forwarding;
  }

  /** Returns the value set by the outermost trusted proxy. */
  private forwardedHeader(name: string): string | undefined {
    const { hops } = this.forwarded;
    if (hops === 0) return undefined;
    const entries = this.header(name)?.split(',');
    return entries && entryFor(entries, hops)?.trim();
  }
}
