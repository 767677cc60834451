import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../limits/budgets.js';
import { rateLimitHeaders } from '../limits/counters.js';
import { hasStopped } from '../limits/last-calls.js';
import { clientOf } from '../security/authenticate.js';
import type { Written } from '../transport/writer.js';
import { BASIC_CHALLENGE, type Reply } from '../wire/reply.js';
import { Call, callOf } from './call.js';
import { triedLogInOf } from './caller.js';
import { ReceivedRequest } from './received-request.js';
import { accountOf, auditedLogInOf, failedLogInOf } from './request-log.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';

/** Writes the reply of a call and ends the call; `null` if the client disconnected. */
export async function send(call: Call, reply: Reply | null): Promise<void> {
  const { services, request, blobs } = call;
  const sent = reply && call.style === 'browser' ? services.browsers.withToken(reply, request, call.identity) : reply;
  for (const charge of call.charges) charge.release();
  if (blobs.length > 0 && (!sent || isRefusal(sent))) discardFiles(call);
  let status = 499;
  if (sent) {
    const written = write(call, sent);
    status = written.status;
    if (written.done) await written.done.catch((error: unknown) => breakOff(error, call));
  }
  services.requests.delete(request.raw);
  const answered = {
    route: call.endpoint?.route,
    status: request.isGone ? 499 : status,
    durationMs: performance.now() - call.startedAt,
  };
  call.span?.end(answered);
  for (const observer of services.observers) observer.answered(answered);
  services.log.answered(request, call, sent, answered);
}

/** Express error middleware: replies to errors of all checks and operations. */
export function replyToError(
  error: unknown,
  request: IncomingMessage,
  _response: ServerResponse,
  _next: (error?: unknown) => void,
): void {
  sendError(error, callOf(request));
}

/** Replies to an error. The host application's error handlers get only its own errors. */
export function sendError(error: unknown, call: Call): void {
  replyTo(error, call)
    .then((reply) => send(call, reply))
    .catch((failure: unknown) => breakOff(failure, call));
}

/** Writes a reply outside the routes, with the headers of all responses (protocol §13). */
export function respond(services: Services, raw: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const request = new ReceivedRequest(raw, response, targetOf(raw), services.proxies);
  write(new Call(services, request, response, null, {}), reply);
}

/** Returns null if the client disconnected. */
async function replyTo(error: unknown, call: Call): Promise<Reply | null> {
  if (error instanceof ClientGone) return null;
  const { services, request, route } = call;
  if (call.path) {
    const tried = triedLogInOf(error, request, call.proof);
    const failed = failedLogInOf(error, call.endpoint?.route.logInMethod, tried);
    call.failedLogIn = failed && { ...failed, account: accountOf(request) };
    if (call.endpoint?.route.logInMethod !== undefined) await recordFailure(call);
  }
  const { reply, message, isBug } = services.options.errorReplies.replyTo(error, request.variant);
  if (reply.headers === BASIC_CHALLENGE) {
    return services.browsers.challenge(reply, request, { route, style: call.style });
  }
  if (isBug) {
    const fields = { requestId: request.id, method: request.method, route: route?.path, err: error };
    services.logger.error(fields, 'unexpected error');
  }
  if (!route?.errorPage) return reply;
  return route.errorPage({ status: reply.status, message, headers: reply.headers ?? [] }, request);
}

/** Adds a failed log-in to the audit log. */
async function recordFailure({ services, request, caller, failedLogIn }: Call): Promise<void> {
  const audited = failedLogIn && auditedLogInOf({ logIn: failedLogIn }, caller?.realmId, request);
  if (!audited) return;
  await services.options.auditRecorder
    ?.recordLogIn(audited)
    .catch((error: unknown) => services.logger.error({ err: error }, 'cannot record a failed log-in'));
}

/** True if nothing was stored. A server error may hide a commit that succeeded. */
const isRefusal = ({ status }: Reply): boolean => status >= 400 && status < 500;

/** If this fails, the sweep deletes the files. */
function discardFiles({ services, blobs }: Call): void {
  for (const blob of blobs) {
    services.options.files
      ?.discard(blob)
      .catch((error) => services.logger.error({ err: error }, 'cannot remove a file'));
  }
}

function write(call: Call, reply: Reply): Written {
  const { services, request, response, path, limit } = call;
  try {
    return services.responses.write(response, reply, {
      request,
      client: clientOf(request, call.proof),
      isAuthenticated: call.identity !== undefined,
      longPollMethods: path?.isLongPoll ? path.allowHeader : null,
      isSameOriginOnly: path?.isSameOriginOnly ?? false,
      isForBrowsers: call.style === 'browser',
      isSecure: services.browsers.isSecure(request),
      limitHeaders: limit && rateLimitHeaders(limit),
      closes: services.requests.isDraining || hasStopped(request.raw) || reply.status === 408,
    });
  } catch (error) {
    breakOff(error, call);
    return { status: reply.status, done: null };
  }
}

function breakOff(error: unknown, { services, request, response }: Call): void {
  services.logger.error({ requestId: request.id, err: error }, 'cannot write the response');
  response.destroy();
}
