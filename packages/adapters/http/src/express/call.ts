import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import type { Caller } from '@parley/domain/kernel';
import type { AnonymousClient, OrganizationClient, Route } from '../declarations/route.js';
import type { Body, Charge } from '../limits/budgets.js';
import type { LimitState } from '../limits/counters.js';
import type { Identity, Proof } from '../security/authenticate.js';
import type { LogInRecord } from '../wire/reply.js';
import { clientNameOf, type PathParameters } from '../wire/request.js';
import type { Endpoint, Style, TablePath } from './paths.js';
import type { ReceivedRequest } from './received-request.js';
import type { AuditedChanges, RequestSpan } from './request-log.js';
import type { Services } from './services.js';

/** State of one request, which the checks complete one after the other. */
export class Call {
  startedAt = 0;
  span: RequestSpan | null = null;
  endpoint: Endpoint | undefined;
  /** Undefined until credentials are checked. */
  proof: Proof | undefined;
  /** Caller of an operation for users. */
  identity: Identity | undefined;
  /** Program acting for an organization. */
  client: OrganizationClient | undefined;
  /** Undefined until the body is read. */
  body: Body | undefined;
  /** Error of a body that was read early, reported in contract order. */
  bodyRefusal: unknown;
  caller: Caller | AnonymousClient | undefined;
  dto: object | undefined;
  ignoredParameters: readonly string[] = [];
  failedLogIn: LogInRecord | null = null;
  changes: AuditedChanges | undefined;
  limit: LimitState | undefined;
  /** Charges for the body while the request is in progress. */
  readonly charges: Charge[] = [];
  /** Files stored for the request; discarded if it fails. */
  readonly blobs: ReceivedBlob[] = [];

  constructor(
    readonly services: Services,
    readonly request: ReceivedRequest,
    readonly response: ServerResponse,
    /** Null for an unknown path of the API. */
    readonly path: TablePath | null,
    readonly pathParameters: PathParameters,
  ) {}

  /** Path of the checks that need one. */
  get known(): TablePath {
    return this.path!;
  }

  /** Endpoint of the checks that need one. */
  get routed(): Endpoint {
    return this.endpoint!;
  }

  get style(): Style | undefined {
    return this.path?.style;
  }

  /** Route of the request, even if it was rejected earlier. */
  get route(): Route | undefined {
    return (this.endpoint ?? this.path?.endpoints.get(this.request.method))?.route;
  }

  /** Client name of the request. */
  get clientName(): string {
    const { client, parameters } = this.request;
    return clientNameOf(client, parameters.get('client'), this.style === 'browser');
  }
}

const CALL = Symbol('call');

type Calling = IncomingMessage & { [CALL]?: Call };

export function beginCallOf(request: IncomingMessage, call: Call): void {
  (request as Calling)[CALL] = call;
}

/** Call of a request that has passed `performOperation`. */
export const callOf = (request: IncomingMessage): Call => (request as Calling)[CALL]!;
