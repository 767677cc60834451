import type { IncomingMessage } from 'node:http';
import { DomainError, type ErrorCode } from '@parley/domain/kernel';
import type { Identity } from './authenticate.js';
import { HttpRefusal } from './reply.js';
import type { ReceivedRequest } from './request.js';
import type { Route } from './route.js';

/**
 * Structured logging, in the argument order of pino. A logger without `warn` gets warnings as errors; one without `debug`, nothing
 * of that.
 */
export interface Logger {
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn?(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: Logger = { info: () => {}, error: () => {} };

/** Something that may need looking after, though nothing has failed. */
export function warn(logger: Logger, fields: object, message: string): void {
  if (logger.warn) logger.warn(fields, message);
  else logger.error(fields, message);
}

/** A request that has been answered, or whose sender has gone. */
export interface AnsweredRequest {
  /** Undefined: no operation was found for it. */
  readonly route: Route | undefined;
  /** 499: whoever asked did not wait. */
  readonly status: number;
  /** Of a long poll, mostly waiting. */
  readonly durationMs: number;
}

/** Called with every request, in the turn that ends it: has to be quick, and must not throw. */
export interface RequestObserver {
  answered(request: AnsweredRequest): void;
}

/** One request, to whoever traces what a server does. */
export interface RequestSpan {
  /** What is begun in there belongs to it. */
  run<T>(work: () => Promise<T>): Promise<T>;
  end(request: AnsweredRequest): void;
}

export interface RequestTracer {
  /** Null: this one is not traced. */
  start(request: IncomingMessage): RequestSpan | null;
}

/** Paths below which accounts, rights and settings of an organization are changed. */
const ADMINISTERED = [
  'bots',
  'channel_folders',
  'default_stream_groups',
  'default_streams',
  'export',
  'invites',
  'realm',
  'streams',
  'user_groups',
  'users',
];

/** Whether an operation changes accounts, rights or settings of an organization, so that it is worth a line of its own. */
export function isAdministration({ method, path }: Pick<Route, 'method' | 'path'>): boolean {
  if (method === 'GET') return false;
  const [, first, second, third] = path.split('/');
  if (first === 'users' && second === 'me') return third === undefined || third === 'api_key';
  return ADMINISTERED.includes(first!);
}

const WRONG_CREDENTIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AUTHENTICATION_FAILED',
  'UNAUTHENTICATED',
  'WRONG_PASSWORD',
]);

/** Whether what came with a request to prove who sent it was not good enough. `triesHeader`: something came in a header. */
export function isFailedLogin(refusal: unknown, triesHeader: boolean): boolean {
  if (refusal instanceof DomainError) return WRONG_CREDENTIALS.has(refusal.code);
  return triesHeader && refusal instanceof HttpRefusal && refusal.status === 401;
}

/** Of what clients say of themselves. */
const MAX_LOGGED_LENGTH = 200;

export interface LoggedRequest {
  readonly identity: Identity | undefined;
  /** Credentials came, and were not good enough. */
  readonly hasFailedLogin: boolean;
}

/**
 * A line for each answer. Never parameters, bodies or credentials; the path's pattern, not the path, which may hold an
 * address.
 */
export class RequestLog {
  constructor(
    private readonly logger: Logger,
    /** The contract's pattern of a path for which there is no route; undefined if it has none. */
    private readonly contractPathOf: (requestPath: string) => string | undefined,
  ) {}

  answered(request: ReceivedRequest, known: LoggedRequest | null, answered: AnsweredRequest): void {
    if (this.logger === silentLogger) return;
    const { route, status, durationMs } = answered;
    const fields = {
      requestId: request.id,
      method: request.method,
      route: route?.path ?? this.contractPathOf(request.path),
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      realmId: known?.identity?.realmId,
      userId: known?.identity?.userId,
      host: request.host.slice(0, MAX_LOGGED_LENGTH),
      ip: request.ip.slice(0, MAX_LOGGED_LENGTH),
      userAgent: request.header('user-agent')?.slice(0, MAX_LOGGED_LENGTH),
    };
    if (known?.hasFailedLogin) warn(this.logger, { audit: 'failed log-in', ...fields }, 'failed log-in');
    else if (route && isAdministration(route))
      warn(this.logger, { audit: 'administration', ...fields }, 'administration');
    else this.logger.info(fields, 'request');
  }
}
