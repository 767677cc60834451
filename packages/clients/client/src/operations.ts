import type { Operations } from './api.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Operation name: `'POST /messages'` … */
export type OperationName = keyof Operations;

/** Paths of operations with a given method: `'/messages'` … */
export type PathOf<M extends Method> = OperationName extends infer K
  ? K extends `${M} ${infer P}`
    ? P
    : never
  : never;

type Named<M extends Method, P extends PathOf<M>> = Extract<OperationName, `${M} ${P}`>;

export type Params<M extends Method, P extends PathOf<M>> = Operations[Named<M, P>]['params'];

/** Fields of a success response except `result` and `msg`. */
export type Answer<M extends Method, P extends PathOf<M>> = Operations[Named<M, P>]['answer'];

/** Parameters are optional if none is required. */
export type Arguments<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends Params<M, P>
    ? [params?: Params<M, P>, options?: CallOptions]
    : [params: Params<M, P>, options?: CallOptions];

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Default: the client's timeout. */
  readonly timeoutMs?: number;
  /** Called while files are being sent, in browsers only. */
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
  /** Maximum number of retries after temporary failures; default: the client's. */
  readonly maxRetries?: number;
}
