import { type DetailsOf, DomainError, type ErrorCode, isLongerThan, takeCodePoints } from '@parley/domain/kernel';
import type { ClientVariant } from './request.js';

/**
 * Challenge of a 401 that Basic authentication would resolve. The response writer replaces it according to the path
 * style.
 */
export const BASIC_CHALLENGE: readonly string[] = ['WWW-Authenticate', 'Basic realm="zulip"'];
/** Challenge of a 401 that a browser session would resolve. */
export const SESSION_CHALLENGE: readonly string[] = ['WWW-Authenticate', 'Session realm="zulip"'];

/** Wire format of an error with these details; defaults to 400 `BAD_REQUEST` with the error's own text. */
export interface WireError<D = object> {
  readonly status?: number;
  readonly code?: string;
  /** Details sent to clients, by wire name. Other details are dropped, because strict clients reject unknown fields. */
  readonly fields?: { readonly [K in KeysOf<D>]?: string };
  /** Conversion of details by name; others are sent unchanged. */
  readonly present?: { readonly [K in KeysOf<D>]?: (value: Exclude<D[K], undefined>) => unknown };
  /** Constant fields. */
  readonly extra?: WireFields;
  /** Replaces the error's own text if clients use different terms. */
  readonly text?: string | ((details: D, variant: ClientVariant | undefined) => string | undefined);
  readonly headers?: readonly string[];
}

type KeysOf<D> = keyof D & string;

/** Rule for errors with a format that depends on their details. */
export type WireErrorRule<C extends ErrorCode> = WireError<DetailsOf<C>> | ((error: DomainError<C>) => WireError);

/** Error codes of a feature other than plain 400 errors. */
export type WireErrors = { readonly [C in ErrorCode]?: WireErrorRule<C> };

/** Error for a parameter of the right type with an invalid value. */
export const badValue = (value: unknown, parameter: string): WireError => ({
  code: 'REQUEST_VARIABLE_INVALID',
  extra: { var_name: parameter, bad_value: value },
  text: `Bad value for '${parameter}': ${value}`,
});

/** Returns the wire name of `sendReadReceipts`: `send_read_receipts`. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Error that exists only in HTTP, such as a missing argument or a wrong method. All other errors are DomainErrors. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    /** Absent only for 405. */
    readonly code: string | undefined,
    message: string,
    readonly extra: WireFields = {},
    readonly headers: readonly string[] = [],
  ) {
    super(message);
    this.name = 'HttpRefusal';
  }
}

export const badParameter = (message: string, extra?: WireFields) =>
  new HttpRefusal(400, 'BAD_REQUEST', message, extra);

export const missingArgument = (name: string) =>
  new HttpRefusal(400, 'REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });

export const confusingArguments = (name: string, alias: string) =>
  new HttpRefusal(400, 'REQUEST_CONFUSING_VAR', `Can't decide between '${name}' and '${alias}' arguments`, {
    var_name1: name,
    var_name2: alias,
  });

/**
 * Invalid value inside a parameter. `formatMessage` receives the position as shown in messages: `principals[0]`,
 * `subscriptions[0]["name"]`.
 */
export class ParamError {
  /** Keys and indexes that lead to the invalid value. */
  readonly steps: (string | number)[] = [];

  constructor(private readonly formatMessage: (position: string) => string) {}

  /** Prepends a path step; called from the innermost step outwards. */
  within(step: string | number): this {
    this.steps.unshift(step);
    return this;
  }

  messageFor(parameter: string): string {
    const position = this.steps.map((step) => `[${JSON.stringify(typeof step === 'string' ? quotable(step) : step)}]`);
    return this.formatMessage(parameter + position.join(''));
  }
}

/** Value above its maximum size; also used for field text too long to decode. */
export class TooLong extends ParamError {
  constructor(limit: number, unit: 'characters' | 'items' = 'characters') {
    super((position) => `${position} is too long (limit: ${limit} ${unit})`);
  }
}

const MAX_QUOTED_LENGTH = 100;

/** Truncates unknown keys for error messages, because they may be as long as a request. */
export const quotable = (key: string): string =>
  isLongerThan(key, MAX_QUOTED_LENGTH) ? `${takeCodePoints(key, MAX_QUOTED_LENGTH)}…` : key;

export const malformedJson = () => new HttpRefusal(400, 'INVALID_JSON', 'Malformed JSON');
export const malformedPayload = () => new HttpRefusal(400, 'BAD_REQUEST', 'Malformed payload');
export const bodyTooLarge = () => new HttpRefusal(413, 'BAD_REQUEST', 'Request body is too large');
export const bodyAlreadyRead = () =>
  new HttpRefusal(
    400,
    'BAD_REQUEST',
    'The body was read before it reached Parley: mount its router before body parsers.',
  );
export const requestTooSlow = () => new HttpRefusal(408, 'BAD_REQUEST', 'The request did not arrive in time');
export const malformedRequest = () => new HttpRefusal(400, 'BAD_REQUEST', 'Malformed HTTP request');
export const unknownPath = () => new HttpRefusal(404, 'BAD_REQUEST', 'Not found');

export const methodNotAllowed = (allowed: readonly string[]) =>
  new HttpRefusal(405, undefined, 'Method Not Allowed', { allowed_methods: allowed }, ['Allow', allowed.join(', ')]);

const RETRY_AFTER_SECONDS = 1;
const RETRY_AFTER = ['Retry-After', String(RETRY_AFTER_SECONDS)];

/** Error for excessive total load. */
export const serverBusy = () =>
  new HttpRefusal(503, 'SERVER_NOT_READY', 'The server is busy; try again in a moment.', {}, RETRY_AFTER);

/** Error for one client with too many bytes in flight. */
export const tooMuchAtOnce = () =>
  new HttpRefusal(
    429,
    'RATE_LIMIT_HIT',
    'Too many bytes at once; finish other requests first.',
    { 'retry-after': RETRY_AFTER_SECONDS },
    RETRY_AFTER,
  );

/** Error 401 with the Basic authentication challenge. */
export const unauthorized = (message: string) => new HttpRefusal(401, 'UNAUTHORIZED', message, {}, BASIC_CHALLENGE);

/** Response. Writing it adds `Content-Length`, CORS, request id and rate limit headers. */
export interface Reply {
  readonly status: number;
  readonly body: ReplyBody;
  /** Defaults to `application/json`. */
  readonly contentType?: string;
  /** Defaults to English. */
  readonly contentLanguage?: string;
  /** Overrides the default, which forbids caching of responses to users. */
  readonly cacheControl?: string;
  /** Additional headers as alternating names and values. */
  readonly headers?: readonly string[];
  /** True for a page that other sites may frame, as its content security policy allows. */
  readonly isFramed?: boolean;
  /** True for a success envelope; ignored parameters are appended to it. */
  readonly isEnvelope?: boolean;
  /** Log-in to record in the audit log. */
  readonly logIn?: LogInRecord;
  readonly logInChange?: LogInChange;
  /** Additional fields of the audit line for an administrative operation. */
  readonly audit?: WireFields | undefined;
}

/** Successful or failed log-in, for the audit log. */
export interface LogInRecord {
  /** `password` or the name of another method. */
  readonly method: string;
  /** Email address or account id, as far as known. */
  readonly account: string | null;
  /** Error code of a failed log-in; null if it succeeded. */
  readonly failure: string | null;
  /** Account change made by the log-in. */
  readonly change?: 'created' | 'linked' | null;
}

/** Change to a user's credentials or sessions, for the audit log. */
export interface LogInChange {
  /** Email address. */
  readonly account: string;
  /** `app`, `passkey`, `recovery`, `session`, `api key` or the name of a service. */
  readonly method: string;
  readonly change: 'added' | 'removed' | 'replaced' | 'ended' | 'linked';
}

/** Text or its UTF-8 bytes, possibly shared with other responses. */
export type BodyChunk = string | Buffer;

/** Body of a response, in chunks if long. Shared chunks take no additional memory. */
export type ReplyBody = BodyChunk | readonly BodyChunk[] | UnfinishedBody | ByteStream | OpenBody;

/** Bytes streamed from a source that is opened on the first read. Pieces are released for reuse once sent. */
export interface ByteStream {
  readonly bytes: AsyncIterable<Uint8Array> & { release?(piece: Uint8Array): void };
  readonly length: number;
}

export const isByteStream = (body: ReplyBody | undefined): body is ByteStream =>
  typeof body === 'object' && 'bytes' in body;

/** Body of unknown length generated while it is sent, so that memory holds only a part. */
export interface UnfinishedBody {
  readonly start: readonly BodyChunk[];
  /** Iterated as the client reads. An error closes the connection, because the status has already been sent. */
  readonly rest: AsyncIterable<readonly string[]>;
  readonly end: string;
}

/** Body without a known end, written piece by piece until either side ends it. */
export interface OpenBody {
  /** Called once, when the status has been decided. */
  open(output: OpenOutput): void;
}

/** Client side of an open body. */
export interface OpenOutput {
  /**
   * Writes chunks in one system call. Returns null if the client reads fast enough; otherwise wait for the promise before
   * the next write, so that a slow client holds no more than these chunks.
   */
  write(chunks: readonly BodyChunk[]): Promise<void> | null;
  end(): void;
  /** Reports an unexpected error and closes the connection. */
  fail(error: unknown): void;
}

export const isOpenBody = (body: ReplyBody | undefined): body is OpenBody => typeof body === 'object' && 'open' in body;

/** Fields of a success response; undefined members are omitted. */
export type WireFields = Readonly<Record<string, unknown>>;

/** Fields as JSON text without enclosing braces: `"messages":[…],"anchor":5`. */
export class WireText {
  readonly chunks: readonly BodyChunk[];

  /** @param rest text after `text`, generated during the response */
  constructor(
    text: string | readonly BodyChunk[],
    readonly rest?: AsyncIterable<readonly string[]>,
  ) {
    this.chunks = typeof text === 'string' ? [text] : text;
  }
}

/** Temporary redirect. */
export const redirectTo = (url: string): Reply => ({ status: 302, body: '', headers: ['Location', url] });

const START = '{"result":"success","msg":""';
const EMPTY_SUCCESS: Reply = { status: 200, body: `${START}}\n`, isEnvelope: true };

/** Success with a message for the user. */
export const successSaying = (msg: string): Reply => ({
  status: 200,
  body: `${JSON.stringify({ result: 'success', msg })}\n`,
  isEnvelope: true,
});

export function success(fields?: WireFields | WireText): Reply {
  if (fields === undefined) return EMPTY_SUCCESS;
  const { chunks, rest } = fields instanceof WireText ? fields : new WireText(JSON.stringify(fields).slice(1, -1));
  if (rest) return { status: 200, body: { start: [`${START},`, ...chunks], rest, end: '}\n' }, isEnvelope: true };
  if (chunks.length > 1) return { status: 200, body: [`${START},`, ...chunks, '}\n'], isEnvelope: true };
  const text = String(chunks[0] ?? '');
  return text === '' ? EMPTY_SUCCESS : { status: 200, body: `${START},${text}}\n`, isEnvelope: true };
}

/** Error as JSON that every client can parse, with `result`, `msg` and, except for 405 and 500, `code`. */
export function failure(status: number, code: string | undefined, msg: string, extra?: WireFields): Reply {
  return { status, body: `${JSON.stringify({ result: 'error', msg, code, ...extra })}\n` };
}

/** Adds the ignored parameters to a success response. Source: Zulip API, feature level 167. */
export function withIgnoredParameters(reply: Reply, ignored: readonly string[]): Reply {
  if (ignored.length === 0 || !reply.isEnvelope) return reply;
  const { body } = reply;
  const end = `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}}\n`;
  if (typeof body === 'string') return { ...reply, body: body.slice(0, body.lastIndexOf('}')) + end };
  if ('rest' in body) return { ...reply, body: { ...body, end } };
  return Array.isArray(body) ? { ...reply, body: [...body.slice(0, -1), end] } : reply;
}

/** Wire errors of codes outside features. */
const SHARED_WIRE_ERRORS: WireErrors = {
  RATE_LIMITED: { status: 429, code: 'RATE_LIMIT_HIT', fields: { retryAfter: 'retry-after' } },
  SERVER_BUSY: { status: 503, code: 'SERVER_NOT_READY' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'SERVER_NOT_READY', headers: RETRY_AFTER },
};

const INTERNAL_ERROR = 'Internal server error';
const INTERNAL_ERROR_REPLY: Reply = failure(500, undefined, INTERNAL_ERROR);

type FullWireError<D> = WireError<D> & { readonly status: number; readonly code: string };

export interface ErrorReply {
  readonly reply: Reply;
  readonly message: string;
  /** True for an unexpected error, which is logged with its stack. */
  readonly isBug: boolean;
}

export function replyToHttpRefusal({ status, code, message, extra, headers }: HttpRefusal): Reply {
  const reply = failure(status, code, message, extra);
  return headers.length > 0 ? { ...reply, headers } : reply;
}

/** Converts errors to responses by the rules of all features. A code without a rule becomes a plain 400. */
export class ErrorReplies {
  private readonly rules: WireErrors;

  constructor(rules: WireErrors) {
    this.rules = { ...rules, ...SHARED_WIRE_ERRORS };
  }

  /** Never throws; an unexpected error becomes a 500 without details. */
  replyTo(error: unknown, variant?: ClientVariant): ErrorReply {
    if (error instanceof HttpRefusal) {
      return { reply: replyToHttpRefusal(error), message: error.message, isBug: false };
    }
    if (error instanceof DomainError) {
      return { reply: this.replyToRefusal(error, variant), message: error.message, isBug: false };
    }
    return { reply: INTERNAL_ERROR_REPLY, message: INTERNAL_ERROR, isBug: true };
  }

  wireErrorOf<C extends ErrorCode>(error: DomainError<C>): FullWireError<DetailsOf<C>> {
    const rule: WireErrorRule<C> = (this.rules as { readonly [T in C]?: WireErrorRule<T> })[error.code] ?? {};
    return { status: 400, code: 'BAD_REQUEST', ...(typeof rule === 'function' ? rule(error) : rule) };
  }

  private replyToRefusal(error: DomainError, variant: ClientVariant | undefined): Reply {
    const details = error.details as Readonly<Record<string, unknown>>;
    const wire = this.wireErrorOf(error) as FullWireError<typeof details>;
    const fields: Readonly<Record<string, string | undefined>> = wire.fields ?? {};
    const extra: Record<string, unknown> = { ...wire.extra };
    for (const [detail, field = detail] of Object.entries(fields)) {
      const value = details[detail];
      const present = wire.present?.[detail];
      if (value !== undefined) extra[field] = present ? present(value) : value;
    }
    const text = typeof wire.text === 'function' ? wire.text(details, variant) : wire.text;
    const reply = failure(wire.status, wire.code, text ?? error.message, extra);
    if (wire.headers) return { ...reply, headers: wire.headers };
    if (details.retryAfter !== undefined) return { ...reply, headers: ['Retry-After', String(details.retryAfter)] };
    return reply;
  }
}

/**
 * Presents a record's validation errors under wire field names; errors about several fields go under `__all__`
 * (organization §1).
 */
export const presentModelErrors = (names: Readonly<Record<string, string>>) => (errors: object) =>
  Object.fromEntries(Object.entries(errors).map(([name, texts]) => [names[name], texts]));
