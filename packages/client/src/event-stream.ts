import type { Event, HeartbeatEvent } from './api.js';
import { encode } from './encode.js';
import type { Answer, Params } from './operations.js';
import { ParleyError } from './parley-error.js';
import { BackOff, sleep, watchForWakeUps } from './timing.js';
import type { Transport } from './transport.js';

/** Register parameters without capabilities, which determine event formats: the client supports all of them. */
export type RegisterParams = Omit<Params<'POST', '/register'>, 'client_capabilities'>;
export type InitialState = Answer<'POST', '/register'>;

/** First event, repeated whenever events may have been missed: rebuild the UI from `state`. */
export interface Registered {
  readonly type: 'registered';
  readonly state: InitialState;
  /** `expired`: the server no longer had the queue, because the client was away for longer than `idle_queue_timeout`. */
  readonly reason: 'start' | 'expired';
}

/** Queue and the last event received from it. */
export interface QueuePosition {
  readonly queueId: string;
  readonly lastEventId: number;
  /** `event_queue_longpoll_timeout_seconds` of the register response. */
  readonly pollSeconds?: number | undefined;
}

export type ReceivedEvent = Registered | Exclude<Event, HeartbeatEvent>;

/** Properties of an event type: `EventOf<'reaction'>`. */
export type EventOf<T extends ReceivedEvent['type']> = Extract<ReceivedEvent, { readonly type: T }>;

export interface StreamOptions {
  /** Aborts the iteration, which throws the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Continues a queue instead of registering. The first poll does not wait for events; `beforePoll` follows it at once. If the
   * server no longer has the queue, `registered` follows as `expired`.
   */
  readonly resume?: QueuePosition;
  /** True to leave the queue on the server when the iteration ends, so that it can be resumed. */
  readonly keepsQueue?: boolean;
  /** Awaited before each poll. The poll acknowledges all events received so far, so they can be stored here. */
  readonly beforePoll?: () => Promise<void>;
  /** Called on every change with the reason. `offline`: the client is trying to reconnect. */
  readonly onConnection?: (state: 'online' | 'offline', reason?: ParleyError) => void;
}

/** All capabilities, so that events have the declared types. */
const CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: true,
  stream_typing_notifications: true,
  user_settings_object: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
  simplified_presence_events: true,
  individual_emoji_changes: true,
  external_ids: true,
};

/** Poll timeout if the server does not specify one (events §6.1). */
const POLL_SECONDS = 90;

/**
 * Stream of events that survives restarts and network failures. Can be iterated once; ending the iteration removes
 * the queue.
 */
export class EventStream implements AsyncIterable<ReceivedEvent> {
  private readonly closing = new AbortController();
  private readonly backOff = new BackOff();
  private isOnline = true;
  private wake = new AbortController();
  /** Controller of the pending poll. */
  private poll: AbortController | null = null;
  private hasBegun = false;
  private pollSeconds: number | undefined;
  private currentQueueId: string | null = null;
  private lastEventId = -1;

  constructor(
    private readonly transport: Transport,
    private readonly params: RegisterParams,
    private readonly options: StreamOptions = {},
  ) {}

  /** Identifies own messages together with `local_id` (messages §3). Null before registration. */
  get queueId(): string | null {
    return this.currentQueueId;
  }

  /** Position from which the queue can be resumed once all events received so far are handled. Null before registration. */
  get position(): QueuePosition | null {
    if (this.currentQueueId === null) return null;
    return { queueId: this.currentQueueId, lastEventId: this.lastEventId, pollSeconds: this.pollSeconds };
  }

  /** Ends the iteration normally. */
  close(): void {
    this.closing.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedEvent, void, undefined> {
    if (this.hasBegun) throw new TypeError('An event stream can be iterated only once');
    this.hasBegun = true;
    const { signal } = this.options;
    const abort = () => this.closing.abort();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    const stopWatching = watchForWakeUps((kind) => {
      this.wake.abort();
      if (kind === 'lost') this.poll?.abort(new ParleyError('The connection may be lost', 'NO_CONNECTION', 0));
    });
    try {
      yield* this.run();
    } catch (error) {
      signal?.throwIfAborted();
      if (!this.closing.signal.aborted) throw error;
    } finally {
      stopWatching();
      signal?.removeEventListener('abort', abort);
      if (!this.options.keepsQueue) this.removeQueue();
    }
  }

  private async *run(): AsyncGenerator<ReceivedEvent, void, undefined> {
    const { resume } = this.options;
    if (resume) yield* this.eventsOf(resume, true);
    for (let reason: Registered['reason'] = resume ? 'expired' : 'start'; ; reason = 'expired') {
      const state = await this.register();
      const { queue_id: queueId, last_event_id: lastEventId } = state;
      this.currentQueueId = queueId;
      this.lastEventId = lastEventId;
      this.pollSeconds = state.event_queue_longpoll_timeout_seconds;
      yield { type: 'registered', state, reason };
      // Visitors receive no events.
      if (queueId === null) return;
      yield* this.eventsOf({ queueId, lastEventId, pollSeconds: this.pollSeconds });
    }
  }

  private async register(): Promise<InitialState> {
    const params = { ...DEFAULTS, ...this.params };
    const request = encode('POST /register', '/register', params);
    for (;;) {
      try {
        const state = await this.transport.call('POST', request, { signal: this.closing.signal, maxRetries: 0 });
        this.report('online');
        return state as InitialState;
      } catch (error) {
        await this.waitAfter(error);
      }
    }
  }

  /** Yields events until the server no longer has the queue. `isResumed`: the first poll returns at once, also without events. */
  private async *eventsOf(
    from: QueuePosition,
    isResumed = false,
  ): AsyncGenerator<Exclude<Event, HeartbeatEvent>, void, undefined> {
    let mayBlock = !isResumed;
    const timeoutMs = (from.pollSeconds ?? POLL_SECONDS) * 1000;
    this.currentQueueId = from.queueId;
    this.lastEventId = from.lastEventId;
    this.pollSeconds = from.pollSeconds;
    for (;;) {
      let events: readonly Event[];
      await this.options.beforePoll?.();
      try {
        events = await this.nextEvents(from.queueId, mayBlock, timeoutMs);
      } catch (error) {
        // A new queue replaces a rejected one, whatever the reason.
        if (error instanceof ParleyError && error.status === 400) {
          await sleep(this.backOff.next(), this.closing.signal);
          return;
        }
        await this.waitAfter(error);
        // A long poll would delay the detection that the server is reachable again.
        mayBlock = false;
        continue;
      }
      mayBlock = true;
      this.backOff.reset();
      this.report('online');
      for (const event of events) {
        // Redelivered after a lost response.
        if (event.id <= this.lastEventId) continue;
        this.lastEventId = event.id;
        if (event.type !== 'heartbeat') yield event;
        if (this.closing.signal.aborted) return;
      }
    }
  }

  private async nextEvents(queueId: string, mayBlock: boolean, timeoutMs: number): Promise<readonly Event[]> {
    const poll = new AbortController();
    const abort = () => poll.abort(this.closing.signal.reason);
    this.closing.signal.throwIfAborted();
    this.closing.signal.addEventListener('abort', abort);
    this.poll = poll;
    try {
      const request = encode('GET /events', '/events', {
        queue_id: queueId,
        last_event_id: this.lastEventId,
        ...(!mayBlock && { dont_block: true }),
      });
      const options = { signal: poll.signal, timeoutMs, maxRetries: 0 };
      const answer = await this.transport.call('GET', request, options);
      return (answer as { readonly events: readonly Event[] }).events;
    } finally {
      this.poll = null;
      this.closing.signal.removeEventListener('abort', abort);
    }
  }

  /** Waits after a temporary failure. @throws the error if waiting does not help */
  private async waitAfter(error: unknown): Promise<void> {
    if (!(error instanceof ParleyError && error.isTemporary)) throw error;
    this.report('offline', error);
    this.wake = new AbortController();
    // A delay requested by the server must not be shortened.
    const mayWake = error.retryAfterMs === null;
    await sleep(this.backOff.next(error.retryAfterMs), this.closing.signal, mayWake ? this.wake.signal : undefined);
  }

  private report(state: 'online' | 'offline', reason?: ParleyError): void {
    const isOnline = state === 'online';
    if (isOnline === this.isOnline) return;
    this.isOnline = isOnline;
    this.options.onConnection?.(state, reason);
  }

  /** Removes the queue early; otherwise it expires. */
  private removeQueue(): void {
    if (this.currentQueueId === null) return;
    const request = encode('DELETE /events', '/events', { queue_id: this.currentQueueId });
    this.currentQueueId = null;
    this.transport.call('DELETE', request, { maxRetries: 0 }).catch(() => {});
  }
}

const DEFAULTS = {
  apply_markdown: true,
  client_gravatar: false,
  slim_presence: true,
  client_capabilities: CAPABILITIES,
} as const satisfies Params<'POST', '/register'>;
