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

/** API calls and the event stream; implemented by `ParleyClient`. */
export interface Gateway extends Pick<ParleyClient, 'get' | 'post' | 'put' | 'patch' | 'delete'> {
  events(params?: RegisterParams, options?: StreamOptions): EventSource;
}

/** Ordered events; ending the iteration closes the stream. */
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

/** System clock for browsers and Node. */
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
 * Persistent storage of a user's state. A rejected promise disables the cache until the next start; the chat works
 * without it.
 */
export interface ChatCache {
  /** Returns null if no state with this `CACHE_FORMAT` is stored. */
  load(): Promise<CachedChat | null>;
  /** Replaces all stored data. */
  save(cached: CachedChat): Promise<void>;
  /** Appends events and the id of the last one atomically. */
  append(events: readonly Event[], lastEventId: number): Promise<void>;
  /** Returns the messages saved under a key; null if there are none. */
  loadMessages(key: string): Promise<CachedMessages | null>;
  /** Saves messages of a conversation; may evict other conversations. */
  saveMessages(key: string, cached: CachedMessages): Promise<void>;
  /** Removes all stored data, for example on logout. */
  clear(): Promise<void>;
}

/** Stored state and the events applied to it since; the queue resumes after the last one. */
export interface CachedChat {
  readonly format: number;
  /** State as a register response. */
  readonly state: InitialState;
  readonly events: readonly Event[];
  readonly position: QueuePosition;
  /** Id of the last event included in `state`. */
  readonly since: number;
}

/** Messages of a conversation as last shown. */
export interface CachedMessages {
  readonly messages: readonly Message[];
  /** True if no older message existed. */
  readonly isOldest: boolean;
  /** True if no newer message existed. */
  readonly isNewest: boolean;
  /** Last event applied to these messages; absent if another tab polled. */
  readonly position?: QueuePosition;
}

/** Storage of unsent messages that survives a crash. */
export interface OutboxStorage {
  /**
   * Calls back with messages from earlier runs, immediately or when their owner ends. Each message goes to one caller
   * only.
   */
  takeOver(found: (messages: readonly OutgoingMessage[]) => void): void;
  /** Replaces all saved messages; never throws. */
  save(messages: readonly OutgoingMessage[]): void;
  /** Lets other chats take over the saved messages. */
  release(): void;
}

/** Browser tabs of the same person, one of which is the leader. A tab does not receive its own messages. */
export interface Tabs {
  /** Starts waiting for leadership. If another tab steals it, waiting starts again. */
  open(events: TabEvents): void;
  /** Takes leadership from an unresponsive tab. */
  steal(): void;
  /** Sends a copy to every other tab, in order. */
  send(message: TabMessage): void;
  /** Gives up leadership and leaves the team. */
  close(): void;
}

export interface TabEvents {
  onLead(): void;
  onLost(): void;
  onMessage(message: TabMessage): void;
}

/** Part that a change of a message affects: the message, all lists with it, or a moved topic. */
export type Reach = 'message' | 'lists' | 'topic';

export type TabMessage =
  /** Pings the leader and may request the state. */
  | { readonly kind: 'hello'; readonly from: string; readonly wantsState: boolean }
  | { readonly kind: 'alive' }
  /** State from the leader, for one tab, or for all after a registration. */
  | {
      readonly kind: 'state';
      readonly to: string | null;
      readonly state: InitialState;
      readonly position: QueuePosition;
      readonly connection: ConnectionView;
    }
  /** Events between two queue positions. */
  | {
      readonly kind: 'events';
      readonly after: number;
      readonly position: QueuePosition;
      readonly events: readonly Event[];
    }
  | { readonly kind: 'connection'; readonly connection: ConnectionView }
  /** User activity in the sending tab. */
  | { readonly kind: 'active' }
  /** Conversation open in the sending tab; null if the tab is unfocused. */
  | { readonly kind: 'watching'; readonly from: string; readonly key: string | null }
  /** Message that the user changed in the sending tab, which may come as no event. */
  | { readonly kind: 'changed'; readonly messageId: number; readonly reach: Reach }
  | { readonly kind: 'presences'; readonly presences: readonly (readonly [id: number, presence: PresenceState])[] };

/** Incremented when older cached states become unreadable. */
export const CACHE_FORMAT = 2;
