import { type Encoded, formOf } from './encode.js';
import type { CallOptions, Method } from './operations.js';
import { ParleyError } from './parley-error.js';
import { BackOff, sleep } from './timing.js';

/**
 * Credentials: an API key; short-lived tokens; or the cookies of a password `session` or of a log-in to the `host`
 * application. A `visitor` has no account and reads web-public channels.
 */
export type Credentials =
  | { readonly email: string; readonly apiKey: string }
  | { readonly token: TokenSource }
  | 'session'
  | 'host'
  | 'visitor';

/** Returns a token for a request. `refused`: the last token rejected by the server, which must be replaced. */
export type TokenSource = (refused: string | null) => Promise<string>;

export interface ClientOptions {
  /**
   * URL of Parley without `/api/v1`: `https://example.com/chat`. On a page it may be a path: `/chat`, or `/` at the
   * root.
   */
  readonly url: string;
  /** Additional headers of each request, for example for a host application. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout of a call; default: 30 seconds. */
  readonly timeoutMs?: number;
  /** Maximum number of retries: for reads after network failures, for all calls when rate limited. Default: 4. */
  readonly maxRetries?: number;
  /**
   * Called when calls have waited for two seconds because of the server (429, 503), and again when no call is waiting.
   */
  readonly onHold?: (isHeld: boolean) => void;
  /** Called with the error code when a call reveals that the log-in has ended (protocol §7). */
  readonly onLoggedOut?: (code: string) => void;
  /** Id of the user for whom the page was opened. Calls are rejected once another person has logged in there. */
  readonly userId?: number;
  /** True to poll for events even if the server and the proxies before it can stream them. */
  readonly polls?: boolean;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 4;
const HOLD_MS = 2000;
/** Maximum delay; if the server requests more, the call fails with its response. */
const LONGEST_WAIT_MS = 60_000;

type Fields = Readonly<Record<string, unknown>>;

/** Sends requests and parses responses. */
export class Transport {
  private readonly url: string;
  /** CSRF token of a session with a cookie that the page cannot read. Null until requested. */
  private csrfToken: string | null = null;
  private refusedToken: string | null = null;
  /** Number of calls that have waited long enough to report. */
  private held = 0;

  constructor(
    private readonly options: ClientOptions,
    private readonly credentials: Credentials | null,
  ) {
    const { location } = globalThis as { location?: { readonly href: string } };
    const url = URL.canParse(options.url, location?.href) ? new URL(options.url, location?.href) : null;
    // `localhost:9991` is the path 9991 of the scheme `localhost`.
    if (!url?.host) throw new TypeError(`The url must begin with http:// or https://, not "${options.url}"`);
    this.url = url.href.replace(/\/$/, '');
  }

  get mayStream(): boolean {
    return this.options.polls !== true;
  }

  /** True for callers identified by Parley's cookies. */
  private get isBrowser(): boolean {
    return this.credentials === 'session' || this.credentials === 'visitor';
  }

  /** Start of the paths of operations. */
  private get base(): string {
    return this.isBrowser ? '/json' : '/api/v1';
  }

  /** Calls an operation with retries. Returns the fields of the success response. */
  async call(method: Method, request: Encoded, options: CallOptions = {}): Promise<unknown> {
    let release: (() => void) | null = null;
    try {
      return await this.retried(method, request, options, () => {
        release ??= this.hold();
      });
    } catch (error) {
      throw this.noted(error);
    } finally {
      (release as (() => void) | null)?.();
    }
  }

  /** Opens a response that is read while it arrives. The options apply until its status is known. */
  async open(request: Encoded, options: CallOptions): Promise<ReadableStream<Uint8Array>> {
    try {
      return await this.sendFor(bodyOf, 'GET', this.base + request.path, request.fields, options);
    } catch (error) {
      throw this.noted(error);
    }
  }

  /** Reports the end of the log-in. */
  private noted(error: unknown): unknown {
    if (error instanceof ParleyError && error.endsLogIn) this.options.onLoggedOut?.(error.code);
    return error;
  }

  /** Counts a held call. Returns a function that ends the wait. */
  private hold(): () => void {
    const timer = setTimeout(() => {
      if (++this.held === 1) this.options.onHold?.(true);
      isHeld = true;
    }, HOLD_MS);
    let isHeld = false;
    return () => {
      clearTimeout(timer);
      if (isHeld && --this.held === 0) this.options.onHold?.(false);
    };
  }

  private async retried(method: Method, request: Encoded, options: CallOptions, onWait: () => void): Promise<unknown> {
    const backOff = new BackOff();
    const path = this.base + request.path;
    for (let left = options.maxRetries ?? this.options.maxRetries ?? DEFAULT_RETRIES; ; left--) {
      try {
        return await this.send(method, path, request.fields, options);
      } catch (error) {
        if (!(error instanceof ParleyError) || left <= 0) throw error;
        if (!error.changedNothing && !(method === 'GET' && error.isTemporary)) throw error;
        if ((error.retryAfterMs ?? 0) > LONGEST_WAIT_MS) throw error;
        if (error.changedNothing) onWait();
        await sleep(backOff.next(error.retryAfterMs), options.signal);
      }
    }
  }

  /** Sends a request once. `path` is relative to the base URL. @throws ParleyError, or the reason of the signal */
  send(method: Method, path: string, fields: Encoded['fields'], options: CallOptions = {}): Promise<Fields> {
    return this.sendFor(fieldsOf, method, path, fields, options);
  }

  private async sendFor<T>(
    read: (answer: Response) => Promise<T>,
    method: Method,
    path: string,
    fields: Encoded['fields'],
    options: CallOptions,
  ): Promise<T> {
    const { refusedToken } = this;
    try {
      return await this.request(read, method, path, fields, options);
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      const isExpired = error.status === 401 && this.refusedToken !== refusedToken;
      // A login or logout on another page may have changed the token of a session.
      const isOtherSession = this.isBrowser && error.code === 'CSRF_FAILED';
      if (!isExpired && !isOtherSession) throw error;
      if (isOtherSession) await this.fetchCsrfToken();
      return this.request(read, method, path, fields, options);
    }
  }

  private async request<T>(
    read: (answer: Response) => Promise<T>,
    method: Method,
    path: string,
    fields: Encoded['fields'],
    options: CallOptions,
  ): Promise<T> {
    const { signal, timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
    signal?.throwIfAborted();
    // A caller's signal may be long-lived, so its listener is removed.
    const request = new AbortController();
    const abort = () => request.abort(signal!.reason);
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(
      () => request.abort(new ParleyError(`No answer within ${timeoutMs} ms`, 'TIMEOUT', 0)),
      timeoutMs,
    );
    try {
      const isQuery = method === 'GET';
      const query = isQuery && fields.length > 0 ? `?${formOf(fields)}` : '';
      const send = options.onProgress && canReport() ? sendWithProgress(options.onProgress) : this.options.fetch;
      const headers = await this.headersFor(method);
      const answer = await (send ?? fetch)(this.url + path + query, {
        method,
        headers,
        credentials: typeof this.credentials === 'string' ? 'include' : 'omit',
        cache: 'no-store',
        signal: request.signal,
        ...(!isQuery && { body: formOf(fields) }),
      });
      if (answer.status === 401 && hasToken(this.credentials)) this.refusedToken = tokenIn(headers);
      return await read(answer);
    } catch (error) {
      if (error instanceof ParleyError) throw error;
      if (request.signal.aborted) throw request.signal.reason;
      throw new ParleyError(`The server ${this.url} cannot be reached`, 'NO_CONNECTION', 0, {}, null, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Returns URL and headers for requests sent by another library. */
  async foreignRequest(path: string): Promise<{ readonly url: string; readonly headers: Record<string, string> }> {
    return {
      url: this.url + this.base + path,
      headers: await this.headersFor('POST'),
    };
  }

  private async headersFor(method: Method): Promise<Record<string, string>> {
    const headers: Record<string, string> = { ...this.options.headers };
    const { credentials } = this;
    const { userId } = this.options;
    if (userId !== undefined) headers['X-Parley-User'] = String(userId);
    // Suppresses the server's challenge, for which browsers ask for a password.
    if (credentials === 'host') headers['X-Requested-With'] = 'XMLHttpRequest';
    if (this.isBrowser && method !== 'GET') {
      headers['X-CSRFToken'] = this.csrfToken ?? tokenInCookie() ?? (await this.fetchCsrfToken());
    } else if (hasToken(credentials)) {
      headers.Authorization = BEARER + (await credentials.token(this.refusedToken));
    } else if (credentials !== null && typeof credentials === 'object') {
      headers.Authorization = `Basic ${base64(`${credentials.email}:${credentials.apiKey}`)}`;
    }
    return headers;
  }

  private async fetchCsrfToken(): Promise<string> {
    if (!('location' in globalThis)) throw new TypeError('Sessions work only in browsers; use an API key elsewhere');
    const { csrf_token: token } = await this.request(fieldsOf, 'GET', '/accounts/csrf_token/', [], {});
    this.csrfToken = String(token);
    return this.csrfToken;
  }
}

/** CSRF token of the page's cookies. Pages outside of Parley's path cannot read it. */
function tokenInCookie(): string | undefined {
  const { document } = globalThis as { document?: { readonly cookie: string } };
  return /\bcsrftoken=([^;]+)/.exec(document?.cookie ?? '')?.[1];
}

const BEARER = 'Bearer ';

const hasToken = (credentials: Credentials | null): credentials is { readonly token: TokenSource } =>
  credentials !== null && typeof credentials === 'object' && 'token' in credentials;

const tokenIn = ({ Authorization = '' }: Record<string, string>): string => Authorization.slice(BEARER.length);

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** @throws ParleyError unless the response is a stream */
async function bodyOf(answer: Response): Promise<ReadableStream<Uint8Array>> {
  if (answer.body && answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return answer.body;
  await fieldsOf(answer);
  throw new ParleyError('The response is not a stream', 'NOT_PARLEY', answer.status);
}

/** @throws ParleyError unless the response is a success */
async function fieldsOf(answer: Response): Promise<Fields> {
  const { status, headers } = answer;
  const body = parse(await answer.text());
  if (body?.result === 'success') return body;
  const retryAfter = Number(body?.['retry-after'] ?? headers.get('Retry-After') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(retryAfter) ? Math.max(0, retryAfter * 1000) : null;
  const tooLarge = status === 413 || status === 414 ? 'TOO_LARGE' : null;
  if (body?.result !== 'error') {
    const message = `Answered with status ${status}, but not by Parley`;
    throw new ParleyError(message, tooLarge ?? 'NOT_PARLEY', status, {}, retryAfterMs);
  }
  const { result, msg, code = 'BAD_REQUEST', ...details } = body;
  throw new ParleyError(String(msg), tooLarge ?? String(code), status, details, retryAfterMs);
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Subset of `fetch` used by the client. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** True in browsers; `fetch` reports no upload progress. */
const canReport = (): boolean => 'XMLHttpRequest' in globalThis;

/** Returns a `fetch` that reports upload progress. */
const sendWithProgress =
  (onProgress: (sentBytes: number, totalBytes: number) => void): Fetch =>
  (url, { method = 'GET', headers = {}, credentials, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      const settle = (end: () => void) => () => {
        signal?.removeEventListener('abort', abort);
        end();
      };
      request.open(method, url);
      request.withCredentials = credentials === 'include';
      for (const [name, value] of Object.entries(headers as Record<string, string>))
        request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
      request.onload = settle(() => {
        const { status, responseText } = request;
        const retryAfter = request.getResponseHeader('Retry-After');
        resolve(
          new Response(responseText, {
            status,
            ...(retryAfter !== null && { headers: { 'Retry-After': retryAfter } }),
          }),
        );
      });
      request.onerror = settle(() => reject(new TypeError('Network error')));
      request.onabort = settle(() => reject(signal?.reason));
      signal?.addEventListener('abort', abort);
      request.send((body ?? null) as XMLHttpRequestBodyInit | null);
    });
