import {
  type AnyEvent,
  type Caller,
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
import { EncodedTexts } from './caches.js';
import {
  can,
  type EventContext,
  type EventWriter,
  endWithId,
  type Presented,
  presentationOf,
  type QueuePresentation,
  SharedText,
  type WireEvent,
} from './event-presenter.js';
import type { MessagePart } from './message-parts.js';
import { PacedCalls } from './paced-calls.js';
import { PresentedTexts } from './presented-texts.js';
import type { PublicRealm, PublicRealms } from './public-realm.js';
import { type BodyChunk, type Reply, success, WireText } from './reply.js';
import type { Request } from './request.js';

/** Bounds of one answer; the next poll goes on (events §6.3). An event that is longer by itself has an answer of its own. */
const MAX_EVENTS = 1000;
const MAX_BYTES = 4_000_000;
/** Shorter chunks, in characters, are put together for each answer: sharing them would cost more than it saves. */
const MIN_SHARED = 8 * 1024;
const MIN_SHARED_END = 512;
const MAX_SHARED = 64 * 1024;
/** Chunks end where so many events of the log end, so that answers which begin at different places come to share them. */
const POSITIONS_PER_CHUNK = 64 * POSITIONS_PER_SEQ;

/** Encoded chunks shared between answers. */
export const newSharedTexts = (): EncodedTexts => new EncodedTexts('');

/** The events of an answer to a poll, as they are put together. */
export class EventAnswer {
  private chunks: BodyChunk[] = [];
  /** What the next chunk will be made of, and how long that is. */
  private open: string[] = [];
  private openLength = 0;
  count = 0;
  bytes = 0;
  /** The highest id in it; -1: there is none. */
  lastPosition = -1;

  constructor(private readonly shared: EncodedTexts) {}

  /** What one delivery became, as far as the client has not confirmed it: all of it, or it is left for the next answer. */
  take(delivery: Delivery, presented: Presented, acked: number): DeliveryOutcome {
    const first = 'stored' in delivery ? delivery.stored.seq * POSITIONS_PER_SEQ : delivery.position;
    if (presented instanceof SharedText) {
      if (first <= acked) return 'silent';
      if (!this.hasRoomFor(1, ID_BYTES + presented.bytes)) return 'left';
      this.addText(presented.withId(first), first);
      this.bytes += ID_BYTES + presented.bytes;
      return 'shown';
    }
    // Positions ascend, so what was confirmed comes first.
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

  /** What belongs to no delivery, such as a heartbeat. */
  add(event: WireEvent, position: number): void {
    if (event instanceof SharedText) {
      this.addText(event.withId(position), position);
      return;
    }
    this.begin(position);
    for (const piece of event) this.append(typeof piece === 'string' ? piece : piece.text);
    this.append(endWithId(position));
    this.note(position);
  }

  /** The elements of a JSON array, in chunks of which the long ones are shared between answers. Handed over, not kept. */
  finish(): readonly BodyChunk[] {
    // Those that have all the rest in common have its end in common too.
    this.close(this.chunks.length > 0 ? MIN_SHARED_END : MIN_SHARED);
    const { chunks } = this;
    this.chunks = [];
    return chunks;
  }

  private hasRoomFor(count: number, bytes: number): boolean {
    return this.count === 0 || (this.count + count <= MAX_EVENTS && this.bytes + bytes <= MAX_BYTES);
  }

  private addText(text: string, position: number): void {
    this.begin(position);
    this.append(text);
    this.note(position);
  }

  private begin(position: number): void {
    if (this.count === 0) return;
    const isNextChunk =
      Math.floor(position / POSITIONS_PER_CHUNK) !== Math.floor(this.lastPosition / POSITIONS_PER_CHUNK);
    if (isNextChunk && this.openLength >= MIN_SHARED) this.close();
    this.append(',');
  }

  /** What is long is a chunk of its own, whatever stands around it. */
  private append(text: string): void {
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

/** `,"id":`, a position and a brace. */
const ID_BYTES = 20;

function bytesOf(event: WireEvent): number {
  if (event instanceof SharedText) return ID_BYTES + event.bytes;
  let bytes = ID_BYTES;
  for (const piece of event) bytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.bytes;
  return bytes;
}

/** Queues that are read at the same time; each keeps the event loop for a few milliseconds. */
const READING = 2;
/** Of answers that nobody has carried away yet, in all. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Nobody keeps others waiting by what they do not read. */
const UNSENT_PER_USER = 2;
const PATIENCE_MS = 1000;

/** The right to read a queue that has fallen behind. */
export interface CatchUpTurn {
  /** It was read, and so many bytes are to be sent. They count until they are, or nobody is there to take them. */
  done(bytes: number): void;
}

/**
 * When a server comes back everybody returns at once, each with much to read. They are read a few at a time, and only as
 * fast as answers are carried away: memory holds what is on its way, not what everybody has missed.
 */
export class CatchUpQueue {
  /** From the turn of a queue until its answer is carried away. */
  private readonly unsent = new WorkQueue({ concurrencyPerClient: UNSENT_PER_USER });
  private readonly reading = new WorkQueue({ concurrency: READING });
  private unsentBytes = 0;
  private readonly waitingForRoom: (() => void)[] = [];
  private isClosed = false;

  /** Null: the client has gone, or the server ends. */
  enter(userId: UserId, request: Request): Promise<CatchUpTurn | null> {
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

  /** Whoever still waits gets no turn. */
  close(): void {
    this.isClosed = true;
    this.unsent.clear();
    this.reading.clear();
    for (const proceed of this.waitingForRoom.splice(0)) proceed();
  }

  /** Resolves to the bytes of the answer once it was read; null: nobody waits for it. */
  private async read(request: Request, begin: (turn: CatchUpTurn | null) => void): Promise<number | null> {
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
          // Others have the event loop before the next queue is read.
          setImmediate(() => resolve(bytes));
        },
      });
    });
  }
}

/** Resolves when the answer was taken, at the latest after `PATIENCE_MS`. */
const carriedAway = (request: Request): Promise<void> =>
  new Promise((resolve) => {
    const patience = setTimeout(resolve, PATIENCE_MS).unref();
    request.onEnd(() => {
      clearTimeout(patience);
      resolve();
    });
  });

/** After so long without an event a poll is answered with a heartbeat (events §6.1). */
const HEARTBEAT_SECONDS = 45;
const HEARTBEAT_JITTER_SECONDS = 10;
/** Polls answered in one turn of the event loop; their answers take a few milliseconds together. */
const POLLS_PER_TURN = 64;

/** In characters. */
const MAX_TEXTS = 16 * 1024 * 1024;

/** Texts of events, by what distinguishes the clients that get them. Events never change. */
type EventTexts = PresentedTexts<AnyEvent, undefined, string, SharedText>;

export interface Poll {
  readonly queueId: string;
  readonly lastPosition: number;
  readonly dontBlock: boolean;
}

/** A queue, and how its client wants its events. */
interface Client {
  readonly live: LiveQueue;
  readonly context: PollContext;
  readonly request: Request;
}

/** `GET /events`: an answer now if there is something to say, else when there is. */
export class LongPoll {
  private readonly line = new CatchUpQueue();
  private readonly wakeCalls = new PacedCalls(POLLS_PER_TURN);
  private readonly texts: EventTexts = new PresentedTexts(MAX_TEXTS);
  private readonly encoded = newSharedTexts();

  constructor(
    private readonly writer: EventWriter,
    private readonly hub: EventHub,
    private readonly publicRealms: PublicRealms,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError UNKNOWN_EVENT_QUEUE, EVENTS_PRUNED, UNKNOWN_EVENT */
  async poll(caller: Caller, { queueId, lastPosition, dontBlock }: Poll, request: Request): Promise<Reply> {
    const live = await this.hub.open(caller.realmId, caller.userId, queueId, lastPosition);
    await this.hub.acknowledge(live, lastPosition);
    const { queue } = live;
    const presentation = presentationOf(queue);
    if (!presentation) throw this.hub.failQueue(live, 'its presentation cannot be read');
    const publicRealm = await this.publicRealms.of(caller.realmId);
    const context = new PollContext(this.writer, queue, presentation, publicRealm, this.texts);
    const client = { live, context, request };
    const answer = this.collectNow(client) ?? (await this.collect(client));
    if (live.hasFailed) throw queueNotFound(queueId);
    if (answer.count > 0 || dontBlock || live.isClosed) return success(textOf(answer));
    return this.wait(client);
  }

  /** Ends what waits for its turn; who waits for events is woken by the hub. */
  close(): void {
    this.line.close();
  }

  /** What there is for the client beyond what it has acknowledged; null: that takes a look-up. */
  private collectNow({ live, context }: Client): EventAnswer | null {
    const answer = new EventAnswer(this.encoded);
    return this.hub.readNow(live, (delivery) => this.take(answer, delivery, live, context)) ? answer : null;
  }

  /** The same whatever it takes. @throws DomainError UNKNOWN_EVENT_QUEUE */
  private async collect(client: Client): Promise<EventAnswer> {
    const { live, request } = client;
    if (!live.isBehind) return this.read(client);
    const turn = await this.line.enter(live.queue.ownerId, request);
    if (!turn) return new EventAnswer(this.encoded);
    let bytes = 0;
    try {
      const answer = await this.read(client);
      bytes = answer.bytes;
      return answer;
    } finally {
      turn.done(bytes);
    }
  }

  private async read({ live, context }: Client): Promise<EventAnswer> {
    const answer = new EventAnswer(this.encoded);
    await this.hub.read(live, (delivery) => this.take(answer, delivery, live, context));
    return answer;
  }

  private take(answer: EventAnswer, delivery: Delivery, live: LiveQueue, context: PollContext): DeliveryOutcome {
    const taken = answer.take(delivery, context.present(delivery), live.acked);
    live.lastGiven = Math.max(live.lastGiven, answer.lastPosition);
    return taken;
  }

  private wait(client: Client): Promise<Reply> {
    const { live, request } = client;
    return new Promise((resolve, reject) => {
      let isDue = false;
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        live.stopWaiting(wake);
        clearTimeout(heartbeat);
        settle();
      };
      const finish = (answer: EventAnswer) => end(() => resolve(success(textOf(answer, live.queue.id))));
      const fail = (error: unknown) => end(() => reject(error));
      /** Called by no request any more, so it never throws. */
      const flush = async (how: { readonly always?: boolean; readonly withHeartbeat?: boolean } = {}) => {
        isDue = false;
        if (isOver) return;
        try {
          const answer = this.collectNow(client) ?? (await this.collect(client));
          if (how.withHeartbeat && answer.count === 0) await this.addHeartbeat(answer, live);
          if (answer.count > 0 || how.always) finish(answer);
          else if (live.hasNews) wake('event');
        } catch (error) {
          fail(error);
        }
      };
      const wake = (reason: WakeReason) => {
        if (reason === 'failed') fail(queueNotFound(live.queue.id));
        else if (reason !== 'event') void flush({ always: true });
        else if (!isDue) {
          isDue = true;
          // Events of the units of one commit come one by one; a client gets them in one answer.
          this.wakeCalls.run(() => void flush());
        }
      };
      const seconds = HEARTBEAT_SECONDS + Math.round(this.randomness.fraction() * HEARTBEAT_JITTER_SECONDS);
      const heartbeat = setTimeout(() => void flush({ withHeartbeat: true }), seconds * 1000).unref();
      live.waitFor(wake);
      request.onClose(() => finish(new EventAnswer(this.encoded)));
      // What came while this poll was on its way woke nobody.
      if (live.hasNews) wake('event');
    });
  }

  private async addHeartbeat(answer: EventAnswer, live: LiveQueue): Promise<void> {
    answer.add(['{"type":"heartbeat"'], await this.hub.takeUnloggedPosition(live));
  }
}

/** One for all events of a poll: what differs from one to the next is put in its place. */
class PollContext implements EventContext {
  readonly showsEmptyTopics: boolean;
  readonly messageParts: MessagePart;
  receiver!: Receiver;
  isNotSubscriber = false;
  private event!: AnyEvent;

  constructor(
    private readonly writer: EventWriter,
    readonly queue: EventQueue,
    readonly presentation: QueuePresentation,
    readonly publicRealm: PublicRealm,
    private readonly texts: EventTexts,
  ) {
    this.messageParts = writer.messageParts;
    this.showsEmptyTopics = can(presentation, 'empty_topic_name');
  }

  present(delivery: Delivery): Presented {
    this.receiver = delivery.receiver;
    this.isNotSubscriber = 'stored' in delivery && delivery.isNotSubscriber;
    this.event = 'stored' in delivery ? delivery.stored.event : delivery.ephemeral;
    return this.writer.present(this.event, this);
  }

  shared(key: string, make: () => string): SharedText {
    const known = this.texts.get(this.event)?.forms.get(key);
    if (known) return known;
    const text = new SharedText(make());
    this.texts.put(this.event, undefined, key, text);
    return text;
  }
}

/** `queueId`: only where the poll has waited. */
function textOf(answer: EventAnswer, queueId?: string): WireText {
  const end = queueId === undefined ? '' : `,"queue_id":${JSON.stringify(queueId)}`;
  return new WireText(['"events":[', ...answer.finish(), `]${end}`]);
}
