import type { InitialState, ParleyClient, ReceivedEvent, RegisterParams, StreamOptions } from '@parley/client';

/** Calls of the API and the stream of events; `ParleyClient` is one. */
export interface Gateway extends Pick<ParleyClient, 'get' | 'post' | 'put' | 'patch' | 'delete'> {
  events(params?: RegisterParams, options?: StreamOptions): EventSource;
}

/** Events in order; ending the iteration ends the stream. */
export interface EventSource extends AsyncIterable<ReceivedEvent> {
  readonly queueId: string | null;
  close(): void;
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once after the delay. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

export type { InitialState };
