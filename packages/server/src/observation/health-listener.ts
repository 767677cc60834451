import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ReadinessReport } from './readiness.js';
import type { ServerMetrics } from './server-metrics.js';

type Ready = () => Promise<ReadinessReport>;

/** `/healthz`: the process answers; `/readyz`: requests may be sent to it. For load balancers and whoever restarts servers. */
export function withHealth(ready: Ready, otherwise: RequestListener): RequestListener {
  return (request, response) => {
    if (request.url === '/healthz' && isRead(request)) answer(request, response, 200, { status: 'ok' });
    else if (request.url === '/readyz' && isRead(request)) void answerReadiness(ready, request, response, false);
    else otherwise(request, response);
  };
}

/** On a listener of its own, which nobody but the operator reaches: metrics, and what is wrong where it is not ready. */
export function operatorListener(ready: Ready, metrics: ServerMetrics): RequestListener {
  return (request, response) => {
    if (!isRead(request)) answer(request, response, 405, { status: 'Method Not Allowed' });
    else if (request.url === '/metrics') void answerMetrics(metrics, request, response);
    else if (request.url === '/healthz') answer(request, response, 200, { status: 'ok' });
    else if (request.url === '/readyz') void answerReadiness(ready, request, response, true);
    else answer(request, response, 404, { status: 'Not found' });
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

async function answerReadiness(
  ready: Ready,
  request: IncomingMessage,
  response: ServerResponse,
  withChecks: boolean,
): Promise<void> {
  const { isReady, checks } = await ready();
  const status = isReady ? 'ready' : 'not ready';
  answer(request, response, isReady ? 200 : 503, withChecks ? { status, checks } : { status });
}

async function answerMetrics(metrics: ServerMetrics, request: IncomingMessage, response: ServerResponse) {
  try {
    write(request, response, 200, metrics.contentType, await metrics.text());
  } catch (error) {
    answer(request, response, 500, { status: (error as Error).message });
  }
}

const answer = (request: IncomingMessage, response: ServerResponse, status: number, body: object) =>
  write(request, response, status, 'application/json', `${JSON.stringify(body)}\n`);

function write(request: IncomingMessage, response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
