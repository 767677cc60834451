import type {
  Event,
  InitialState,
  ParleyClient,
  QueuePosition,
  ReceivedEvent,
  RegisterParams,
  StreamOptions,
} from '@parley/client';

/** Calls of the API and the stream of events; `ParleyClient` is one. */
export interface Gateway extends Pick<ParleyClient, 'get' | 'post' | 'put' | 'patch' | 'delete'> {
  events(params?: RegisterParams, options?: StreamOptions): EventSource;
}

/** Events in order; ending the iteration ends the stream. */
export interface EventSource extends AsyncIterable<ReceivedEvent> {
  readonly queueId: string | null;
  readonly position: QueuePosition | null;
  close(): void;
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once after the delay. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

/**
 * Storage of a user's state for the next start. A rejected promise switches the cache off until then; everything works
 * without it.
 */
export interface ChatCache {
  /** Returns null if there is nothing of this `CACHE_FORMAT`. */
  load(): Promise<CachedChat | null>;
  /** Replaces everything. */
  save(cached: CachedChat): Promise<void>;
  /** Adds events with the id of the last one, both or neither. */
  append(events: readonly Event[], lastEventId: number): Promise<void>;
  /** Removes everything, for example on logging out. */
  clear(): Promise<void>;
}

/** State and the events applied to it since; a queue continues after the last of them. */
export interface CachedChat {
  readonly format: number;
  /** State in the form of a register response. */
  readonly state: InitialState;
  readonly events: readonly Event[];
  readonly position: QueuePosition;
}

/** Grows when a cached state can no longer be read. */
export const CACHE_FORMAT = 1;
