import type { IncomingMessage } from 'node:http';
import type { Route } from './route.js';

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
