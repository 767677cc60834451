import {
  type Caller,
  type Delivery,
  type DeliveryOutcome,
  DomainError,
  type EventSeq,
  type WakeReason,
} from '@parley/domain/kernel';
import { YieldingCalls } from '../limits/yielding.js';
import type { EncodedTexts } from '../wire/caches.js';
import type { BodyChunk, OpenBody, OpenOutput, Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { type Presented, SharedText } from './event-presenter.js';
import { EventResponse, type LongPoll, type OpenQueue, type Sending } from './long-poll.js';

/** Maximum size of one write. A slow client holds one; later events wait in the log. */
const MAX_WRITE_BYTES = 256 * 1024;
/** Interval of a stream's heartbeats, below the promised 45 s because timers run late. */
const HEARTBEAT_SECONDS = 44;
/** Shows intermediaries and `EventSource` that the connection works. Has no id, because it is not a queue event. */
const HEARTBEAT: readonly BodyChunk[] = [Buffer.from('event: heartbeat\ndata: {"type":"heartbeat"}\n\n')];
/** Maximum delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Events of one write, as server-sent events. */
export class EventFrames extends EventResponse {
  private only: SharedText | null = null;

  constructor(shared: EncodedTexts) {
    super(shared, { events: Number.POSITIVE_INFINITY, bytes: MAX_WRITE_BYTES });
  }

  override take(delivery: Delivery, presented: Presented, sent: number): DeliveryOutcome {
    const isFirst = this.count === 0;
    const outcome = super.take(delivery, presented, sent);
    if (outcome === 'shown') this.only = isFirst && presented instanceof SharedText ? presented : null;
    return outcome;
  }

  override finish(): readonly BodyChunk[] {
    // One event without differences between receivers is encoded once for all streams.
    return this.only ? [this.only.frame(this.lastPosition, frameOf)] : super.finish();
  }

  protected override begin(position: number): void {
    this.closeAtBoundary(position);
    this.append(`id: ${position}\ndata: `);
  }

  protected override end(): void {
    this.append('\n\n');
  }
}

const frameOf = (id: number, text: string): Buffer => Buffer.from(`id: ${id}\ndata: ${text}\n\n`);

export interface StreamRequest {
  readonly queueId: string;
  readonly lastPosition: number;
  /** Time until the credentials end; null if they do not. */
  readonly endsInMs: number | null;
}

/** Streams served per event loop turn; together, their writes take a few milliseconds. */
const STREAMS_PER_TURN = 256;

/** Implements `GET /events/stream` (extensions §7). */
export class EventStreams {
  private readonly calls = new YieldingCalls(STREAMS_PER_TURN);
  private readonly heartbeats = new Heartbeats();

  constructor(private readonly polls: LongPoll) {}

  /** @throws DomainError UNKNOWN_EVENT_QUEUE, EVENTS_PRUNED, UNKNOWN_EVENT */
  async begin(caller: Caller, { queueId, lastPosition, endsInMs }: StreamRequest, request: Request): Promise<Reply> {
    const queue = await this.polls.open(caller, queueId, lastPosition);
    if (queue.live.failure) throw queue.live.failure;
    return {
      status: 200,
      contentType: 'text/event-stream',
      // Compressing middlewares and proxies would hold events back.
      cacheControl: 'no-store, no-transform',
      // Switches buffering off in nginx.
      headers: ['X-Accel-Buffering', 'no'],
      body: new EventStream(this.polls, this.calls, this.heartbeats, { ...queue, request, endsInMs }),
    };
  }
}

/**
 * Sends heartbeats to one group of streams per second. Thousands of streams with separate timers would take several times
 * as much CPU, because each write would find cold caches.
 */
class Heartbeats {
  private readonly groups = Array.from({ length: HEARTBEAT_SECONDS }, () => new Set<EventStream>());
  private timer: NodeJS.Timeout | undefined;
  private added = 0;
  private seconds = 0;

  /** Adds the stream to the next group and returns that group, so that streams that begin together are spread. */
  add(stream: EventStream): Set<EventStream> {
    this.timer ??= setInterval(() => this.sendNext(), 1000).unref();
    return this.groups[this.added++ % HEARTBEAT_SECONDS]!.add(stream);
  }

  private sendNext(): void {
    for (const stream of this.groups[++this.seconds % HEARTBEAT_SECONDS]!) stream.sendHeartbeat();
  }
}

interface StreamClient extends OpenQueue, Pick<StreamRequest, 'endsInMs'> {
  readonly request: Request;
}

/** Sends events of a queue as they become due, until either side ends the response. */
class EventStream implements OpenBody {
  private output!: OpenOutput;
  private isDue = false;
  /** True while events are read from storage, or while the client has not read the last write. */
  private isBusy = false;
  private isOver = false;
  /** First and last logged event of the present write. */
  private logged: { first: EventSeq; last: EventSeq } | null = null;
  private heartbeatGroup: Set<EventStream> | undefined;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly polls: LongPoll,
    private readonly calls: YieldingCalls,
    private readonly heartbeats: Heartbeats,
    private readonly client: StreamClient,
  ) {}

  open(output: OpenOutput): void {
    const { live, request, endsInMs } = this.client;
    this.output = output;
    request.onEnd(() => this.stop());
    if (this.isOver) return;
    this.sendHeartbeat();
    this.heartbeatGroup = this.heartbeats.add(this);
    if (endsInMs !== null) this.deadline = setTimeout(() => this.end(), Math.min(endsInMs, MAX_TIMER_MS)).unref();
    live.waitFor(this.wake, true);
    this.polls.lastCalls.add(request.raw, this.wake);
    if (live.isClosed) this.end();
    else if (live.hasDeliveries) this.wake('event');
  }

  sendHeartbeat(): void {
    if (!this.isBusy) this.write(HEARTBEAT);
  }

  private readonly wake = (reason: WakeReason): void => {
    // The client gets the reason as the response to its next request.
    if (reason !== 'event') this.end();
    else if (!this.isDue && !this.isBusy) {
      this.isDue = true;
      // The events of a commit arrive one by one, but are written together.
      this.calls.run(this.flush);
    }
  };

  private readonly flush = (): void => {
    this.isDue = false;
    if (this.isOver || this.isBusy) return;
    const { live } = this.client;
    try {
      const frames = this.newFrames();
      if (this.polls.hub.readNow(live, (delivery) => this.take(frames, delivery))) {
        if (!this.send(frames)) this.proceed();
      } else void this.read();
    } catch (error) {
      this.fail(error);
    }
  };

  /** Sends events that need storage. Never throws, because nothing awaits it. */
  private async read(): Promise<void> {
    const { live } = this.client;
    const { hub, line } = this.polls;
    this.isBusy = true;
    let written: Promise<void> | null = null;
    try {
      const slot = live.isBehind
        ? await line.enter(
            live.queue.ownerId,
            this.sending(() => written),
          )
        : undefined;
      if (slot === null) {
        this.end();
        return;
      }
      const frames = this.newFrames();
      try {
        await hub.read(live, (delivery) => this.take(frames, delivery));
        if (!this.isOver) written = this.send(frames);
      } finally {
        slot?.done(frames.bytes);
      }
    } catch (error) {
      this.fail(error);
    }
    if (!written) this.proceed();
  }

  /** Present write for the queue of reads, which otherwise awaits the end of responses. */
  private sending(written: () => Promise<void> | null): Sending {
    const isGone = () => this.isOver;
    return {
      get isGone() {
        return isGone();
      },
      onEnd: (listener) => {
        void Promise.resolve(written()).then(listener);
      },
    };
  }

  private newFrames(): EventFrames {
    this.logged = null;
    return new EventFrames(this.polls.encoded);
  }

  private take(frames: EventFrames, delivery: Delivery): DeliveryOutcome {
    // A newer poll or stream sends these events.
    if (this.isOver) return 'left';
    const { live, context } = this.client;
    const outcome = frames.take(delivery, context.present(delivery), live.acked);
    if (outcome !== 'shown') return outcome;
    live.lastGiven = Math.max(live.lastGiven, frames.lastPosition);
    if ('stored' in delivery) {
      const { seq } = delivery.stored;
      if (this.logged) this.logged.last = seq;
      else this.logged = { first: seq, last: seq };
    }
    return outcome;
  }

  private send(frames: EventFrames): Promise<void> | null {
    if (frames.count === 0) return null;
    this.client.live.markStreamed(frames.lastPosition, this.logged);
    return this.write(frames.finish());
  }

  /** Leaves further events in the queue, and then in the log, while the client has not read the last write. */
  private write(chunks: readonly BodyChunk[]): Promise<void> | null {
    const written = this.output.write(chunks);
    if (!written) return null;
    this.isBusy = true;
    return written.then(() => this.proceed());
  }

  private proceed(): void {
    this.isBusy = false;
    if (!this.isOver && this.client.live.hasDeliveries) this.wake('event');
  }

  private fail(error: unknown): void {
    if (error instanceof DomainError) this.end();
    else {
      this.stop();
      this.output.fail(error);
    }
  }

  private end(): void {
    if (this.isOver) return;
    this.stop();
    this.output.end();
  }

  private stop(): void {
    this.isOver = true;
    this.heartbeatGroup?.delete(this);
    clearTimeout(this.deadline);
    this.polls.lastCalls.delete(this.wake);
    this.polls.hub.endStream(this.client.live, this.wake);
  }
}
