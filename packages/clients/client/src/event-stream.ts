import type { Event, HeartbeatEvent } from './api.js';
import { encode } from './encode.js';
import { FrameReader } from './frames.js';
import type { Answer, Params } from './operations.js';
import { ParleyError } from './parley-error.js';
import { BackOff, sleep, watchForWakeUps } from './timing.js';
import type { Transport } from './transport.js';

/** Register parameters without capabilities, which determine event formats: the client supports all of them. */
export type RegisterParams = Omit<Params<'POST', '/register'>, 'client_capabilities'> & {
  /** Set by callers that fetch other channels and users of a large organization when they need them. */
  readonly client_capabilities?: { readonly partial_state: boolean };
};
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
   * Continues a queue instead of registering. The first poll does not wait for events; `beforePoll` follows it
   * immediately. If the server no longer has the queue, `registered` follows as `expired`.
   */
  readonly resume?: QueuePosition;
  /** True to leave the queue on the server when the iteration ends, so that it can be resumed. */
  readonly keepsQueue?: boolean;
  /** Awaited before each wait for events. Events received so far are acknowledged later, so they can be stored here. */
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
  application_data: true,
  lean_state: true,
};

/** Poll timeout if the server does not specify one (events §6.1); also the longest silence of a stream. */
const POLL_SECONDS = 90;
/** Maximum number of events of a poll; after so many, there may be more. */
const MAX_EVENTS = 1000;

/** Time until the first heartbeat of a stream, after which a proxy probably buffers it. */
const FIRST_FRAME_MS = 5000;
/** Duration of polling after a failure to open a stream. */
const POLLING_MS = 300_000;
/** A stream acknowledges events after this number of them, or this time. */
const ACKNOWLEDGED_EVENTS = 100;
const ACKNOWLEDGED_MS = 10_000;

/**
 * Stream of events that survives restarts and network failures. Can be iterated once; ending the iteration removes
 * the queue.
 */
export class EventStream implements AsyncIterable<ReceivedEvent> {
  private readonly closing = new AbortController();
  private readonly backOff = new BackOff();
  private readonly streamBackOff = new BackOff();
  /** True if the last stream ended without events. */
  private isRepeated = false;
  private isOnline = true;
  private wake = new AbortController();
  /** Controller of the pending poll. */
  private poll: AbortController | null = null;
  private hasBegun = false;
  private pollSeconds: number | undefined;
  private currentQueueId: string | null = null;
  private lastEventId = -1;
  /** Time until which polls are used. */
  private pollsUntil = 0;

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
    this.poll?.abort(this.closing.signal.reason);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedEvent, void, undefined> {
    if (this.hasBegun) throw new TypeError('An event stream can be iterated only once');
    this.hasBegun = true;
    const { signal } = this.options;
    const abort = () => this.close();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort);
    const stopWatching = watchForWakeUps((kind) => {
      this.wake.abort();
      if (kind !== 'lost') return;
      // Another network may have other proxies.
      this.pollsUntil = 0;
      this.poll?.abort(new ParleyError('The connection may be lost', 'NO_CONNECTION', 0));
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
    const { client_capabilities: more, ...own } = this.params;
    const params = { ...DEFAULTS, ...own, client_capabilities: { ...CAPABILITIES, ...more } };
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

  /**
   * Yields events until the server no longer has the queue. `isResumed`: the first poll returns immediately, even
   * without events.
   */
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
        if (mayBlock && this.transport.mayStream && Date.now() >= this.pollsUntil) {
          yield* this.streamedEvents(from.queueId, timeoutMs);
          if (this.closing.signal.aborted) return;
          // The server may be about to stop.
          mayBlock = false;
          continue;
        }
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
      mayBlock = events.length < MAX_EVENTS;
      this.backOff.reset();
      this.report('online');
      yield* this.newEvents(events);
      if (this.closing.signal.aborted) return;
    }
  }

  private *newEvents(events: readonly Event[]): Generator<Exclude<Event, HeartbeatEvent>, void, undefined> {
    for (const event of events) {
      // Redelivered after a lost response.
      if (event.id <= this.lastEventId) continue;
      this.lastEventId = event.id;
      if (event.type !== 'heartbeat') yield event;
      if (this.closing.signal.aborted) return;
    }
  }

  /** Yields events of a stream until the server ends it. Yields nothing and leaves the queue to polls if none begins. */
  private async *streamedEvents(
    queueId: string,
    timeoutMs: number,
  ): AsyncGenerator<Exclude<Event, HeartbeatEvent>, void, undefined> {
    const stream = this.newPoll();
    let frames: FrameReader | null = null;
    const stop = () => frames?.close();
    stream.signal.addEventListener('abort', stop);
    try {
      const body = await this.openStream(queueId, stream.signal);
      frames = body && new FrameReader(body);
      let received = frames && (await frames.next(FIRST_FRAME_MS));
      stream.signal.throwIfAborted();
      if (!frames || received === null || received === 'late') {
        this.pollsUntil = Date.now() + POLLING_MS;
        return;
      }
      this.report('online');
      const beganAt = Date.now();
      let heardAt = beganAt;
      const acknowledgement = new Acknowledgement();
      while (received !== null) {
        if (received !== 'late') {
          heardAt = Date.now();
          const events = received.flatMap(({ name, data }) => (name === null ? [JSON.parse(data) as Event] : []));
          yield* this.newEvents(events);
          if (this.closing.signal.aborted) return;
          await this.options.beforePoll?.();
          acknowledgement.add(events.length);
        } else if (Date.now() >= heardAt + timeoutMs) {
          throw new ParleyError(`No heartbeat within ${timeoutMs} ms`, 'TIMEOUT', 0);
        }
        if (acknowledgement.takeDue()) this.acknowledge(queueId);
        received = await frames.next(Math.min(heardAt + timeoutMs, acknowledgement.dueAt) - Date.now());
        stream.signal.throwIfAborted();
      }
      await this.pauseAfterStream(heardAt > beganAt);
    } finally {
      this.endPoll(stream);
      stream.signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** Delays the next request if streams end again and again without events, as with two readers of a queue. */
  private async pauseAfterStream(hadFrames: boolean): Promise<void> {
    if (hadFrames) {
      this.isRepeated = false;
      this.streamBackOff.reset();
    } else if (this.isRepeated) await sleep(this.streamBackOff.next(), this.closing.signal);
    else this.isRepeated = true;
  }

  /**
   * Resolves to null if the server, or a proxy in front of it, does not support streams. @throws ParleyError if a poll
   * would be refused as well
   */
  private async openStream(queueId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const request = encode('GET /events/stream', '/events/stream', {
      queue_id: queueId,
      last_event_id: this.lastEventId,
    });
    try {
      return await this.transport.open(request, { signal, timeoutMs: FIRST_FRAME_MS });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ParleyError) || REFUSALS.has(error.status)) throw error;
      return null;
    }
  }

  /** Lets the server delete events. If this fails, a later acknowledgement or request includes them. */
  private acknowledge(queueId: string): void {
    const request = encode('POST /events/acknowledge', '/events/acknowledge', {
      queue_id: queueId,
      last_event_id: this.lastEventId,
    });
    this.transport.call('POST', request, { maxRetries: 0 }).catch(() => {});
  }

  /** Returns the controller of a new poll or stream, which ends with the iteration. */
  private newPoll(): AbortController {
    this.closing.signal.throwIfAborted();
    const poll = new AbortController();
    this.poll = poll;
    return poll;
  }

  private endPoll(poll: AbortController): void {
    if (this.poll === poll) this.poll = null;
  }

  private async nextEvents(queueId: string, mayBlock: boolean, timeoutMs: number): Promise<readonly Event[]> {
    const poll = this.newPoll();
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
      this.endPoll(poll);
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

/** Decides when received events are acknowledged. */
class Acknowledgement {
  private count = 0;
  /** Infinite if there is nothing to acknowledge. */
  dueAt = Number.POSITIVE_INFINITY;

  add(events: number): void {
    if (events > 0 && this.count === 0) this.dueAt = Date.now() + ACKNOWLEDGED_MS;
    this.count += events;
  }

  takeDue(): boolean {
    if (this.count < ACKNOWLEDGED_EVENTS && Date.now() < this.dueAt) return false;
    this.count = 0;
    this.dueAt = Number.POSITIVE_INFINITY;
    return true;
  }
}

/** Statuses of refusals that concern polls too. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 429, 503]);

const DEFAULTS = {
  apply_markdown: true,
  client_gravatar: false,
  slim_presence: true,
  client_capabilities: CAPABILITIES,
} as const satisfies Params<'POST', '/register'>;
