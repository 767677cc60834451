import type {
  Event,
  InitialState,
  Message,
  ParleyClient,
  QueuePosition,
  ReceivedEvent,
  RegisterParams,
  StreamOptions,
} from '@parley/client';
import type { PresenceState } from './state.js';
import type { ConnectionView, OutgoingMessage } from './view-models.js';

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

/** Clock of browsers and of Node. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const { setTimeout, clearTimeout } = globalThis as unknown as Timers;
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

interface Timers {
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
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
  /** Returns messages that `saveMessages` kept under a key; null if there are none. */
  loadMessages(key: string): Promise<CachedMessages | null>;
  /** Keeps messages of a conversation; those of others may be removed for them. */
  saveMessages(key: string, cached: CachedMessages): Promise<void>;
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
  /** Last event that `state` includes. */
  readonly since: number;
}

/** Messages of a conversation as they were last shown. */
export interface CachedMessages {
  readonly messages: readonly Message[];
  /** True if there was no older message. */
  readonly isOldest: boolean;
  /** True if there was no newer message. */
  readonly isNewest: boolean;
  /** Event up to which they were current; absent where another tab polled. */
  readonly position?: QueuePosition;
}

/** Storage of messages on their way, which survives a crash. */
export interface OutboxStorage {
  /** Calls back with messages of earlier runs, at once or when their owner ends; nobody else gets them afterwards. */
  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void;
  /** Replaces everything; never throws. */
  save(messages: readonly OutgoingMessage[]): void;
  /** Leaves what was saved to other chats. */
  release(): void;
}

/** Tabs of the same person in one browser, of which one leads. Nothing is delivered to the tab that sends. */
export interface Tabs {
  /** Begins to wait for the lead; it may be lost to a tab that steals it, and is then awaited again. */
  open(events: TabEvents): void;
  /** Takes the lead from a tab that does not respond. */
  steal(): void;
  /** Delivers a copy to every other tab, in order. */
  send(message: TabMessage): void;
  /** Gives up the lead and the place among the tabs. */
  close(): void;
}

export interface TabEvents {
  onLead(): void;
  onLost(): void;
  onMessage(message: TabMessage): void;
}

export type TabMessage =
  /** Asks the leader for a sign of life, and for the state. */
  | { readonly kind: 'hello'; readonly from: string; readonly wantsState: boolean }
  | { readonly kind: 'alive' }
  /** The leader's state for one tab, or after it registered for all. */
  | {
      readonly kind: 'state';
      readonly to: string | null;
      readonly state: InitialState;
      readonly position: QueuePosition;
      readonly connection: ConnectionView;
    }
  /** Events between two positions of a queue. */
  | {
      readonly kind: 'events';
      readonly after: number;
      readonly position: QueuePosition;
      readonly events: readonly Event[];
    }
  | { readonly kind: 'connection'; readonly connection: ConnectionView }
  /** The user did something in the tab that sends. */
  | { readonly kind: 'active' }
  /** Conversation that the user looks at in the tab that sends; null without the focus. */
  | { readonly kind: 'watching'; readonly from: string; readonly key: string | null }
  | { readonly kind: 'presences'; readonly presences: readonly (readonly [id: number, presence: PresenceState])[] };

/** Grows when a cached state can no longer be read. */
export const CACHE_FORMAT = 2;
