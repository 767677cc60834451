import type { Operations } from './api.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `'POST /messages'` … */
export type OperationName = keyof Operations;

/** `'/messages'` …, of those operations that have the method. */
export type PathOf<M extends Method> = OperationName extends infer K
  ? K extends `${M} ${infer P}`
    ? P
    : never
  : never;

type Named<M extends Method, P extends PathOf<M>> = Extract<OperationName, `${M} ${P}`>;

export type Params<M extends Method, P extends PathOf<M>> = Operations[Named<M, P>]['params'];

/** What a success has beside `result` and `msg`. */
export type Answer<M extends Method, P extends PathOf<M>> = Operations[Named<M, P>]['answer'];

/** Parameters may be left out where none is required. */
export type Arguments<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends Params<M, P>
    ? [params?: Params<M, P>, options?: CallOptions]
    : [params: Params<M, P>, options?: CallOptions];

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Default: the client's. */
  readonly timeoutMs?: number;
  /** How often a call that failed for a while is tried again; default: the client's. */
  readonly maxRetries?: number;
}
