import { isAdministration } from './audit.js';
import type { Identity } from './authenticate.js';
import { type Logger, silentLogger, warn } from './logger.js';
import type { AnsweredRequest } from './observation.js';
import type { ReceivedRequest } from './received-request.js';

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
