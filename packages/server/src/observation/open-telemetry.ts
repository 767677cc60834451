import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { CompletedRequest, RequestSpan, RequestTracer } from '@parley/http';

type Api = typeof import('@opentelemetry/api');

/**
 * Creates a span per request for the provider registered by the application or `node --import`. Spans contain no more
 * than the log: no parameters and no paths that may contain an email.
 */
export async function openTelemetryTracer(version: string): Promise<RequestTracer> {
  const api = await import('@opentelemetry/api');
  // Proxy tracer, which also works for a provider registered later.
  const tracer = api.trace.getTracer('parley', version);
  return {
    start(request: IncomingMessage): RequestSpan | null {
      const parent = api.propagation.extract(api.context.active(), request.headers);
      const attributes = { 'http.request.method': request.method ?? 'GET' };
      const span = tracer.startSpan(request.method ?? 'GET', { kind: api.SpanKind.SERVER, attributes }, parent);
      if (!span.isRecording()) return null;
      return new TracedRequest(api, span, api.trace.setSpan(parent, span));
    },
  };
}

class TracedRequest implements RequestSpan {
  constructor(
    private readonly api: Api,
    private readonly span: Span,
    private readonly context: ReturnType<Api['context']['active']>,
  ) {}

  run<T>(work: () => Promise<T>): Promise<T> {
    return this.api.context.with(this.context, work);
  }

  end({ route, status }: CompletedRequest): void {
    const { span } = this;
    if (route) {
      span.updateName(`${route.method} ${route.path}`);
      span.setAttribute('http.route', route.path);
    }
    span.setAttribute('http.response.status_code', status);
    if (status >= 500) span.setStatus({ code: this.api.SpanStatusCode.ERROR });
    span.end();
  }
}
