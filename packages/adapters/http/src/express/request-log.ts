import type { IncomingMessage } from 'node:http';
import { DomainError, type ErrorCode, type RealmId, type UserId } from '@parley/domain/kernel';
import { isAccessToken } from '@parley/domain/log-in';
import type { AuditProgram } from '@parley/domain/membership';
import type { OrganizationClient, Route } from '../declarations/route.js';
import type { Identity } from '../security/authenticate.js';
import { HttpRefusal, type LogInChange, type LogInRecord, type Reply } from '../wire/reply.js';
import type { ReceivedRequest } from './received-request.js';

/**
 * Structured logger with pino's argument order. Without `warn`, warnings are logged as errors; without `debug`, debug
 * output is dropped.
 */
export interface Logger {
  debug?(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn?(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writer of lines below the log level. Frequent callers compare it, to build no line in vain. */
export const dropLine = (): void => {};

export const silentLogger: Logger = { info: dropLine, error: dropLine };

/** Logs a condition that needs attention although no operation failed. */
export function warn(logger: Logger, fields: object, message: string): void {
  if (logger.warn) logger.warn(fields, message);
  else logger.error(fields, message);
}

/** Completed request, or a request aborted by its client. */
export interface CompletedRequest {
  /** Undefined if no operation matched. */
  readonly route: Route | undefined;
  /** Status code; 499 if the client disconnected. */
  readonly status: number;
  /** Includes waiting time for long polls. */
  readonly durationMs: number;
}

/** Observer notified when a request ends. Must be fast and must not throw. */
export interface RequestObserver {
  answered(request: CompletedRequest): void;
}

/** Tracing span of one request. */
export interface RequestSpan {
  /** Runs work inside the span. */
  run<T>(work: () => Promise<T>): Promise<T>;
  end(request: CompletedRequest): void;
}

export interface RequestTracer {
  /** Returns null to skip tracing. */
  start(request: IncomingMessage): RequestSpan | null;
}

/** Path prefixes of operations that change accounts, rights or settings. */
const ADMINISTERED = [
  'bots',
  'channel_folders',
  'default_stream_groups',
  'default_streams',
  'export',
  'holds',
  'invites',
  'realm',
  'scim',
  'streams',
  'user_groups',
  'users',
];

/** True if an operation changes accounts, rights or settings and must be audited. */
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

/** Refused credentials of a request. */
export interface TriedLogIn {
  /** Value of the header. */
  readonly authorization: string | undefined;
  /** True if the host application named a caller whom the server refuses. */
  readonly isByHost: boolean;
  /** True for credentials of a user, false for the token of a SCIM client. */
  readonly isOfUser: boolean;
}

/** `method`: log-in method of the operation. Returns null if the refusal does not concern a log-in. */
export function failedLogInOf(
  refusal: unknown,
  method: string | undefined,
  tried: TriedLogIn,
): Pick<LogInRecord, 'method' | 'failure'> | null {
  if (!(refusal instanceof DomainError || refusal instanceof HttpRefusal)) return null;
  const failure = refusal.code ?? '';
  if (method !== undefined) return { method, failure };
  const byHeader = methodOf(tried);
  if (refusal instanceof DomainError && WRONG_CREDENTIALS.has(refusal.code)) {
    return { method: refusal.code === 'WRONG_PASSWORD' ? 'password' : byHeader, failure };
  }
  if (!(refusal instanceof HttpRefusal) || refusal.status !== 401) return null;
  if (tried.authorization !== undefined) return { method: byHeader, failure };
  return tried.isByHost ? { method: 'host', failure } : null;
}

function methodOf({ authorization, isOfUser }: TriedLogIn): string {
  const token = /^bearer\b *(\S*)/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return 'api key';
  if (!isOfUser) return 'scim';
  return isAccessToken(token) ? 'access token' : 'jwt';
}

/** Maximum length of values supplied by clients. */
const MAX_LOGGED_LENGTH = 200;

/** Properties of an audited object, compared before and after an operation, by name. */
export type AuditedState = Readonly<Record<string, unknown>>;

/** Reads the state that administrative operations change. */
export interface AuditReader {
  /** Returns null if the target does not exist or is not audited. */
  stateOf(
    realmId: RealmId,
    route: Pick<Route, 'path'>,
    target: Readonly<Record<string, string>>,
  ): Promise<AuditedState | null>;
}

/** Administrative operation for the rows of the audit log. */
export interface AuditedOperation {
  /** Method and path pattern, such as `PATCH /users/:user_id`. */
  readonly action: string;
  /** Path pattern. */
  readonly path: string;
  /** Null for a program. */
  readonly actorId: UserId | null;
  /** Null for a user. */
  readonly program: AuditProgram | null;
  readonly programName?: string;
  /** Path parameters. */
  readonly target: Readonly<Record<string, string>>;
  readonly ip?: string;
  readonly userAgent?: string | undefined;
  /** Organization with data of others that the operation only reads; null if it changes something. */
  readonly reads: RealmId | null;
}

/** Attempt to log in, or change to the credentials or sessions of a user, for the rows of the audit log. */
export interface AuditedLogIn {
  readonly realmId: RealmId;
  readonly action: 'log-in' | 'failed log-in' | 'log-in change';
  /** Email address or id of the account, as far as known. */
  readonly account: string | null;
  readonly about: Pick<LogInRecord, 'method' | 'failure' | 'change'> | Pick<LogInChange, 'method' | 'change'>;
  readonly ip: string;
  readonly userAgent: string | undefined;
}

/** Writes rows of the audit log. */
export interface AuditRecorder {
  /** Writes rows in the units of work of an operation. */
  run<T>(operation: AuditedOperation, work: () => Promise<T>): Promise<T>;
  recordLogIn(logIn: AuditedLogIn): Promise<void>;
}

/** Refusals before anything is tried. The method is then any text of the request. */
const UNTRIED: ReadonlySet<string> = new Set(['RATE_LIMITED', 'UNKNOWN_LOG_IN_METHOD']);

/** Returns the log-in or change that a reply reports; null if there is none or nothing was tried. */
export function auditedLogInOf(
  { logIn, logInChange }: Pick<Reply, 'logIn' | 'logInChange'>,
  realmId: RealmId | null | undefined,
  request: ReceivedRequest,
): AuditedLogIn | null {
  const record = logIn ?? logInChange;
  if (!record || realmId == null || UNTRIED.has(logIn?.failure ?? '')) return null;
  const { account, ...about } = record;
  const action = logInChange ? 'log-in change' : logIn?.failure === null ? 'log-in' : 'failed log-in';
  return { realmId, action, account, about, ...originOf(request) };
}

/**
 * True if an operation has a row in the audit log: administration, own sessions and devices, and reading the data of
 * others. Log-ins have rows too, see `AuditedLogIn`.
 */
export function isRecorded(route: Pick<Route, 'method' | 'path'>): boolean {
  return isAdministration(route) || isReadingOthers(route) || isOwnCredential(route);
}

export const isReadingOthers = ({ method, path }: Pick<Route, 'method' | 'path'>): boolean =>
  method === 'GET' && (path === '/users/:user_id/sessions' || path === '/audit/csv');

/** Paths of operations on own sessions, and on devices that get notifications. */
const OWN_CREDENTIALS: ReadonlySet<string> = new Set([
  '/accounts/logout/',
  '/register_client_device',
  '/remove_client_device',
  '/web_push/subscriptions',
]);

const isOwnCredential = ({ method, path }: Pick<Route, 'method' | 'path'>): boolean =>
  method !== 'GET' && (path.startsWith('/users/me/sessions') || OWN_CREDENTIALS.has(path));

/** Old and new value by property. */
export type AuditedChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** Returns the properties that differ; empty if the object was created or deleted. */
export function changesBetween(before: AuditedState | null, after: AuditedState | null): AuditedChanges {
  if (before === null || after === null) return {};
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: shown(before[name]), to: shown(after[name]) }]));
}

const shown = (value: unknown): unknown => (typeof value === 'string' ? value.slice(0, MAX_LOGGED_LENGTH) : value);

/** Returns the account named by the log-in parameters or header, as written by the client; null if there is none. */
export function accountOf(request: ReceivedRequest): string | null {
  const header = /^basic\s+([a-z\d+/=_-]{1,2000})/i.exec(request.header('authorization') ?? '')?.[1];
  const basic = header && Buffer.from(header, 'base64').toString('utf8').split(':', 1)[0];
  return (request.parameters.get('username') ?? basic ?? claimedBy(request))?.slice(0, MAX_LOGGED_LENGTH) ?? null;
}

/** Returns the address in an unverified token. */
function claimedBy({ parameters }: ReceivedRequest): string | undefined {
  const [, payload] = parameters.get('token')?.split('.') ?? [];
  if (payload === undefined) return undefined;
  try {
    const { email } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof email === 'string' ? email : undefined;
  } catch {
    return undefined;
  }
}

export interface LoggedRequest {
  /** Matched path, which may have no operation for the method; null if no path matched. */
  readonly path: { readonly pattern: string } | null;
  readonly identity: Identity | undefined;
  /** Changes made by an administrative operation; undefined if it failed or is not administrative. */
  readonly changes: AuditedChanges | undefined;
  /** Failed log-in implied by the refusal of the request. */
  readonly failedLogIn: LogInRecord | null;
  /** Program that acted for an organization. */
  readonly client: OrganizationClient | undefined;
}

/** Parts of a reply for the log. */
type LoggedReply = Pick<Reply, 'body' | 'logIn' | 'logInChange' | 'audit'>;

/** Length of a register response, in characters, above which clients start slowly. */
const LONG_STATE = 5_000_000;
/** Time between two warnings about long register responses. */
const WARNING_INTERVAL_MS = 86_400_000;

/**
 * Logs one line per response, without parameters, bodies or credentials. Logs the path pattern instead of the path,
 * which may contain an email address; only audit lines name accounts and changes.
 */
export class RequestLog {
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly logger: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `reply` is null if the client disconnected. */
  answered(
    request: ReceivedRequest,
    logged: LoggedRequest,
    reply: LoggedReply | null,
    answered: CompletedRequest,
  ): void {
    const { route } = answered;
    if (reply && route?.path === '/register') this.warnOfLongState(request, logged, reply, answered);
    const audited = auditedBy(request, logged, reply, route);
    if (audited) {
      const [audit, about] = audited;
      warn(this.logger, { audit, ...fieldsOf(request, logged, answered), ...about }, audit);
    } else if (this.logger.info !== dropLine) this.logger.info(fieldsOf(request, logged, answered), 'request');
  }

  /** Warns once a day, because the response grows with the organization (docs/guides/support-chat.md). */
  private warnOfLongState(
    request: ReceivedRequest,
    logged: LoggedRequest,
    { body }: LoggedReply,
    answered: CompletedRequest,
  ): void {
    const length = lengthOf(body);
    if (length <= LONG_STATE || this.now() - this.warnedAt < WARNING_INTERVAL_MS) return;
    this.warnedAt = this.now();
    const megabytes = Math.round(length / 1_000_000);
    const fields = { ...fieldsOf(request, logged, answered), megabytes };
    warn(this.logger, fields, 'clients receive a long register response; see docs/guides/support-chat.md');
  }
}

/** Returns the kind and the fields of an audit line; null for other requests. */
function auditedBy(
  { pathParameters }: ReceivedRequest,
  { failedLogIn, changes, client }: LoggedRequest,
  reply: LoggedReply | null,
  route: Route | undefined,
): readonly [kind: string, about: object] | null {
  const logIn = reply?.logIn ?? failedLogIn;
  if (logIn) {
    const { account, method, failure, change } = logIn;
    const about = { account: account?.slice(0, MAX_LOGGED_LENGTH), logInMethod: method };
    const kind = failure === null ? 'log-in' : 'failed log-in';
    return [kind, { ...about, ...(failure && { failure }), ...(change && { change }) }];
  }
  if (reply?.logInChange) {
    const { account, method, change } = reply.logInChange;
    return ['log-in change', { account, logInMethod: method, change }];
  }
  if (!route || !isAdministration(route)) return null;
  const program = client && { program: client.name };
  return ['administration', { target: pathParameters, ...(changes && { changes }), ...program, ...reply?.audit }];
}

/** Number of characters of a complete body; 0 for one that is generated while it is sent. */
const lengthOf = (body: Reply['body']): number =>
  Array.isArray(body) ? body.reduce((sum, chunk) => sum + chunk.length, 0) : 0;

/** Fields of every line. */
const fieldsOf = (
  request: ReceivedRequest,
  logged: LoggedRequest,
  { route, status, durationMs }: CompletedRequest,
) => ({
  requestId: request.id,
  method: request.method,
  route: route?.path ?? logged.path?.pattern,
  status,
  durationMs: Math.round(durationMs * 100) / 100,
  realmId: (logged.identity ?? logged.client)?.realmId,
  userId: logged.identity?.userId,
  host: request.host.slice(0, MAX_LOGGED_LENGTH),
  ...originOf(request),
});

/** Returns the address and program of the client. */
export const originOf = (request: ReceivedRequest) => ({
  ip: request.ip.slice(0, MAX_LOGGED_LENGTH),
  userAgent: request.header('user-agent')?.slice(0, MAX_LOGGED_LENGTH),
});
