import {
  type AnyEvent,
  type Caller,
  conversationAt,
  type Delivery,
  type DeliveryOutcome,
  type EventHub,
  type EventQueue,
  type LiveQueue,
  POSITIONS_PER_SEQ,
  queueNotFound,
  type Randomness,
  type Receiver,
  type UserId,
  type WakeReason,
  WorkQueue,
} from '@parley/domain/kernel';
import { LastCalls } from '../limits/last-calls.js';
import { YieldingCalls } from '../limits/yielding.js';
import { EncodedTexts, PresentedTexts } from '../wire/caches.js';
import { type BodyChunk, type Reply, success, WireText } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import {
  can,
  type EventContext,
  type EventWriter,
  endWithId,
  type MessagePart,
  type Presented,
  presentationOf,
  type QueuePresentation,
  SharedText,
  type WireEvent,
  type Within,
} from './event-presenter.js';
import type { EventRealm, PublicRealms } from './public-realm.js';

/** Maximum size of one response; the next poll continues (events §6.3). An oversized event gets its own response. */
const MAX_RESPONSE: ResponseSize = { events: 1000, bytes: 4_000_000 };
/**
 * In characters. Shorter chunks are joined separately for each response, because sharing them costs more than it saves.
 */
const MIN_SHARED = 8 * 1024;
const MIN_SHARED_END = 512;
const MAX_SHARED = 64 * 1024;
/** Fixed chunk boundaries in log positions let responses with different starts share chunks. */
const POSITIONS_PER_CHUNK = 64 * POSITIONS_PER_SEQ;

/** Creates the cache of encoded chunks shared between responses. */
export const newSharedTexts = (): EncodedTexts => new EncodedTexts('');

export interface ResponseSize {
  readonly events: number;
  readonly bytes: number;
}

/** Events of a poll response under construction. */
export class EventResponse {
  private chunks: BodyChunk[] = [];
  /** Texts of the next chunk and their total length. */
  private open: string[] = [];
  private openLength = 0;
  count = 0;
  bytes = 0;
  /** Highest event id in the response; -1 if empty. */
  lastPosition = -1;

  constructor(
    private readonly shared: EncodedTexts,
    private readonly max = MAX_RESPONSE,
  ) {}

  /** Adds the unacknowledged events of one delivery, or leaves all of them for the next response. */
  take(delivery: Delivery, presented: Presented, acked: number): DeliveryOutcome {
    const first = 'stored' in delivery ? delivery.stored.seq * POSITIONS_PER_SEQ : delivery.position;
    if (presented instanceof SharedText) {
      if (first <= acked) return 'silent';
      if (!this.hasRoomFor(1, ID_BYTES + presented.bytes)) return 'left';
      this.addText(presented.withId(first), first);
      this.bytes += ID_BYTES + presented.bytes;
      return 'shown';
    }
    // Positions ascend, so acknowledged events come first.
    const from = Math.max(0, acked + 1 - first);
    if (from >= presented.length) return 'silent';
    const due = presented.slice(from);
    const bytes = due.reduce((sum, event) => sum + bytesOf(event), 0);
    if (!this.hasRoomFor(due.length, bytes)) return 'left';
    due.forEach((event, n) => {
      this.add(event, first + from + n);
    });
    this.bytes += bytes;
    return 'shown';
  }

  /** Adds an event outside deliveries, such as a heartbeat. */
  add(event: WireEvent, position: number): void {
    if (event instanceof SharedText) {
      this.addText(event.withId(position), position);
      return;
    }
    this.begin(position);
    for (const piece of event) this.append(typeof piece === 'string' ? piece : piece.text);
    this.append(endWithId(position));
    this.end();
    this.note(position);
  }

  /** Returns and releases the elements of a JSON array in chunks; long chunks are shared between responses. */
  finish(): readonly BodyChunk[] {
    // Responses that share all earlier chunks also share the last one.
    this.close(this.chunks.length > 0 ? MIN_SHARED_END : MIN_SHARED);
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }

  private hasRoomFor(count: number, bytes: number): boolean {
    return this.count === 0 || (this.count + count <= this.max.events && this.bytes + bytes <= this.max.bytes);
  }

  private addText(text: string, position: number): void {
    this.begin(position);
    this.append(text);
    this.end();
    this.note(position);
  }

  /** Separates an event from the one before. */
  protected begin(position: number): void {
    if (this.count === 0) return;
    this.closeAtBoundary(position);
    this.append(',');
  }

  /** Ends an event. */
  protected end(): void {}

  protected closeAtBoundary(position: number): void {
    const isNextChunk =
      Math.floor(position / POSITIONS_PER_CHUNK) !== Math.floor(this.lastPosition / POSITIONS_PER_CHUNK);
    if (isNextChunk && this.openLength >= MIN_SHARED) this.close();
  }

  /** Gives long texts their own chunk. */
  protected append(text: string): void {
    if (text.length >= MIN_SHARED || this.openLength + text.length > MAX_SHARED) this.close();
    this.open.push(text);
    this.openLength += text.length;
    if (text.length >= MIN_SHARED) this.close();
  }

  private close(minShared = MIN_SHARED): void {
    if (this.openLength >= minShared)
      this.chunks.push(this.shared.encode(this.open, this.open[0] === ',' ? this.open[1] : this.open[0]));
    else if (this.openLength > 0) this.chunks.push(this.open.join(''));
    this.open = [];
    this.openLength = 0;
  }

  private note(position: number): void {
    this.count++;
    this.lastPosition = position;
  }
}

/** Length of `,"id":`, a position and a brace. */
const ID_BYTES = 20;

function bytesOf(event: WireEvent): number {
  if (event instanceof SharedText) return ID_BYTES + event.bytes;
  let bytes = ID_BYTES;
  for (const piece of event) bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.bytes;
  return bytes;
}

/** Maximum number of queues read concurrently. Each read occupies the event loop for a few milliseconds. */
const READING = 2;
/** Total for all unsent responses. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Limits the unsent responses per user so that a slow client does not block others. */
const UNSENT_PER_USER = 2;
const PATIENCE_MS = 1000;

/** Response to the client of a queue. */
export type Sending = Pick<Request, 'isGone' | 'onEnd'>;

/** Permit to read a queue that has fallen behind. */
export interface CatchUpSlot {
  /** Ends the read. `bytes` count as unsent until they are sent, the client disconnects or a timeout passes. */
  done(bytes: number): void;
}

/**
 * Limits concurrent catch-up reads after a restart, when all clients return with long backlogs. Reads only as fast as
 * responses are sent, so memory holds unsent responses instead of entire backlogs.
 */
export class CatchUpQueue {
  /** Runs from the slot of a queue until its response is sent. */
  private readonly unsent = new WorkQueue({ concurrencyPerClient: UNSENT_PER_USER });
  private readonly reading = new WorkQueue({ concurrency: READING });
  private unsentBytes = 0;
  private readonly waitingForRoom: (() => void)[] = [];
  private isClosed = false;

  /** Resolves to null if the client disconnects or the server shuts down. */
  enter(userId: UserId, request: Sending): Promise<CatchUpSlot | null> {
    return new Promise((resolve) => {
      const serve = async (): Promise<void> => {
        const bytes = await this.reading.run(userId, () => this.read(request, resolve));
        if (bytes === null) return;
        await carriedAway(request);
        this.unsentBytes -= bytes;
        for (const proceed of this.waitingForRoom.splice(0)) proceed();
      };
      this.unsent.run(userId, serve).catch(() => resolve(null));
    });
  }

  /** Releases all waiting requests without a permit. */
  close(): void {
    this.isClosed = true;
    this.unsent.clear();
    this.reading.clear();
    for (const proceed of this.waitingForRoom.splice(0)) proceed();
  }

  /** Resolves to the size of the response once it is read, or to null if no client waits for it. */
  private async read(request: Sending, begin: (slot: CatchUpSlot | null) => void): Promise<number | null> {
    while (this.unsentBytes >= MAX_UNSENT_BYTES && !this.isClosed) {
      await new Promise<void>((resolve) => this.waitingForRoom.push(resolve));
    }
    if (request.isGone || this.isClosed) {
      begin(null);
      return null;
    }
    return new Promise((resolve) => {
      begin({
        done: (bytes) => {
          this.unsentBytes += bytes;
          // Lets other work run before the next queue is read.
          setImmediate(() => resolve(bytes));
        },
      });
    });
  }
}

/** Resolves when the response was sent, or after `PATIENCE_MS` at the latest. */
const carriedAway = (request: Sending): Promise<void> =>
  new Promise((resolve) => {
    const patience = setTimeout(resolve, PATIENCE_MS).unref();
    request.onEnd(() => {
      clearTimeout(patience);
      resolve();
    });
  });

/** Delay after which an idle poll returns a heartbeat (events §6.1). */
const HEARTBEAT_SECONDS = 45;
const HEARTBEAT_JITTER_SECONDS = 10;
/** Polls answered per event loop turn; together, their responses take a few milliseconds. */
const POLLS_PER_TURN = 128;

/** Maximum total length of cached texts in characters. */
const MAX_TEXTS = 16 * 1024 * 1024;

/** Event texts by client form. Events never change. */
type EventTexts = PresentedTexts<AnyEvent, undefined, string, SharedText>;

export interface Poll {
  readonly queueId: string;
  readonly lastPosition: number;
  readonly dontBlock: boolean;
  /** Time until the caller has to authenticate again; null if their credentials do not expire. */
  readonly endsInMs: number | null;
}

/** Queue and presentation settings of a polling client. */
interface Client extends OpenQueue {
  readonly request: Request;
}

/** Queue with the presentation of its events. */
export interface OpenQueue {
  readonly live: LiveQueue;
  readonly context: PollContext;
}

/** Implements `GET /events`: returns pending events immediately or waits for the next one. */
export class LongPoll {
  /** Shared with streams, like the last calls and the encoded texts. */
  readonly line = new CatchUpQueue();
  readonly lastCalls = new LastCalls();
  private readonly wakeCalls = new YieldingCalls(POLLS_PER_TURN);
  private readonly texts: EventTexts = new PresentedTexts(MAX_TEXTS);
  readonly encoded = newSharedTexts();

  constructor(
    private readonly writer: EventWriter,
    readonly hub: EventHub,
    private readonly publicRealms: PublicRealms,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError UNKNOWN_EVENT_QUEUE, EVENTS_PRUNED, UNKNOWN_EVENT */
  async poll(caller: Caller, { queueId, lastPosition, dontBlock, endsInMs }: Poll, request: Request): Promise<Reply> {
    const { live, context } = await this.open(caller, queueId, lastPosition);
    const client = { live, context, request };
    // Other polls wait for their events anyway.
    if (dontBlock) await this.hub.settled(caller.realmId);
    const response = this.collectNow(client) ?? (await this.collect(client));
    if (live.failure) throw live.failure;
    if (response.count > 0 || dontBlock || live.isClosed) return success(textOf(response));
    return this.wait(client, endsInMs ?? Infinity);
  }

  /**
   * Opens a queue for its client, which acknowledges everything up to the position. Ends a stream of the queue.
   * @throws DomainError UNKNOWN_EVENT_QUEUE, EVENTS_PRUNED, UNKNOWN_EVENT
   */
  async open(caller: Caller, queueId: string, lastPosition: number): Promise<OpenQueue> {
    const { live, presentation } = await this.find(caller, queueId, lastPosition);
    await this.hub.acknowledge(live, lastPosition);
    const publicRealm = await this.publicRealms.of(caller.realmId);
    // Last, so that no stream takes the queue's events before this request reads them.
    live.endStream();
    return { live, context: new PollContext(this.writer, live.queue, presentation, publicRealm, this.texts) };
  }

  /**
   * Finds a queue of the caller. One that was opened with a token belongs to tokens for the same conversations.
   * @throws DomainError UNKNOWN_EVENT_QUEUE
   */
  async find(
    { realmId, userId, scope }: Caller,
    queueId: string,
    lastPosition?: number,
  ): Promise<{ readonly live: LiveQueue; readonly presentation: QueuePresentation }> {
    const live = await this.hub.open(realmId, userId, queueId, lastPosition);
    const presentation = presentationOf(live.queue);
    if (!presentation) throw this.hub.failQueue(live, 'its presentation cannot be read');
    if (!isSameScope(presentation.conversations, scope?.conversations)) throw queueNotFound(queueId);
    return { live, presentation };
  }

  /** Releases polls that wait for catch-up; the hub wakes polls that wait for events. */
  close(): void {
    this.line.close();
  }

  /** Collects unacknowledged events from memory; null if the log must be read. */
  private collectNow({ live, context }: Client): EventResponse | null {
    const response = new EventResponse(this.encoded);
    return this.hub.readNow(live, (delivery) => this.take(response, delivery, live, context)) ? response : null;
  }

  /** Collects unacknowledged events, from the log if necessary. @throws DomainError UNKNOWN_EVENT_QUEUE */
  private async collect(client: Client): Promise<EventResponse> {
    const { live, request } = client;
    if (!live.isBehind) return this.read(client);
    const slot = await this.line.enter(live.queue.ownerId, request);
    if (!slot) return new EventResponse(this.encoded);
    let bytes = 0;
    try {
      const response = await this.read(client);
      bytes = response.bytes;
      return response;
    } finally {
      slot.done(bytes);
    }
  }

  private async read({ live, context }: Client): Promise<EventResponse> {
    const response = new EventResponse(this.encoded);
    await this.hub.read(live, (delivery) => this.take(response, delivery, live, context));
    return response;
  }

  private take(response: EventResponse, delivery: Delivery, live: LiveQueue, context: PollContext): DeliveryOutcome {
    const taken = response.take(delivery, context.present(delivery), live.acked);
    live.lastGiven = Math.max(live.lastGiven, response.lastPosition);
    return taken;
  }

  private wait(client: Client, endsInMs: number): Promise<Reply> {
    const { live, request } = client;
    return new Promise((resolve, reject) => {
      let isDue = false;
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        live.stopWaiting(wake);
        this.lastCalls.delete(wake);
        clearTimeout(heartbeat);
        settle();
      };
      const finish = (response: EventResponse) => end(() => resolve(success(textOf(response, live.queue.id))));
      const fail = (error: unknown) => end(() => reject(error));
      /** Never throws, because no request awaits it. */
      const flush = async (how: { readonly always?: boolean; readonly withHeartbeat?: boolean } = {}) => {
        isDue = false;
        if (isOver) return;
        try {
          const response = this.collectNow(client) ?? (await this.collect(client));
          if (how.withHeartbeat && response.count === 0) await this.addHeartbeat(response, live);
          if (response.count > 0 || how.always) finish(response);
          else if (live.hasDeliveries) wake('event');
        } catch (error) {
          fail(error);
        }
      };
      const wake = (reason: WakeReason) => {
        if (reason === 'failed') fail(live.failure);
        else if (reason !== 'event') void flush({ always: true });
        else if (!isDue) {
          isDue = true;
          // The events of a commit arrive one by one, but the client receives them in one response.
          this.wakeCalls.run(() => void flush());
        }
      };
      const seconds = HEARTBEAT_SECONDS + Math.round(this.randomness.fraction() * HEARTBEAT_JITTER_SECONDS);
      const waitMs = Math.min(seconds * 1000, endsInMs);
      const heartbeat = setTimeout(() => void flush({ withHeartbeat: true }), waitMs).unref();
      live.waitFor(wake);
      this.lastCalls.add(request.raw, wake);
      request.onClose(() => finish(new EventResponse(this.encoded)));
      // Events that arrived during this request did not wake the poll.
      if (live.hasDeliveries) wake('event');
    });
  }

  private async addHeartbeat(response: EventResponse, live: LiveQueue): Promise<void> {
    response.add(['{"type":"heartbeat"'], await this.hub.takeUnloggedPosition(live));
  }
}

/** True for the conversations of two tokens, or for two logins without a token. */
const isSameScope = (a: QueuePresentation['conversations'], b: QueuePresentation['conversations']): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Event context reused for all events of a client; per-event fields are overwritten. */
export class PollContext implements EventContext {
  readonly showsEmptyTopics: boolean;
  readonly messageParts: MessagePart;
  receiver!: Receiver;
  isNotSubscriber = false;
  private event!: AnyEvent;
  private readonly within: Within | null;

  constructor(
    private readonly writer: EventWriter,
    readonly queue: EventQueue,
    readonly presentation: QueuePresentation,
    readonly publicRealm: EventRealm,
    private readonly texts: EventTexts,
  ) {
    this.messageParts = writer.messageParts;
    this.showsEmptyTopics = can(presentation, 'empty_topic_name');
    const { conversations } = presentation;
    this.within = conversations
      ? {
          has: (place) => conversationAt({ conversations }, place) !== undefined,
          hasMessage: (id) => this.receiver.within.has(id),
        }
      : null;
  }

  present(delivery: Delivery): Presented {
    this.receiver = delivery.receiver;
    this.isNotSubscriber = 'stored' in delivery && delivery.isNotSubscriber;
    this.event = 'stored' in delivery ? delivery.stored.event : delivery.ephemeral;
    if (this.within) {
      const limited = this.writer.limit(this.event, this.within);
      if (!limited) return [];
      this.event = limited;
    }
    return this.writer.present(this.event, this);
  }

  shared(key: string, make: () => string): SharedText {
    // Callers with tokens receive other forms of an event.
    if (this.within) return new SharedText(make());
    const existing = this.texts.get(this.event)?.forms.get(key);
    if (existing) return existing;
    const text = new SharedText(make());
    this.texts.put(this.event, undefined, key, text);
    return text;
  }
}

/** @param queueId present only if the poll waited */
function textOf(response: EventResponse, queueId?: string): WireText {
  const end = queueId === undefined ? '' : `,"queue_id":${JSON.stringify(queueId)}`;
  return new WireText(['"events":[', ...response.finish(), `]${end}`]);
}
