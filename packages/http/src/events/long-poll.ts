import {
  type AnyEvent,
  type Caller,
  type Delivery,
  type DeliveryOutcome,
  type EventHub,
  type EventQueue,
  type LiveQueue,
  queueNotFound,
  type Randomness,
  type Receiver,
  type WakeReason,
} from '@parley/domain/kernel';
import { PacedCalls } from '../kernel/paced-calls.js';
import { PresentedTexts } from '../kernel/presented-texts.js';
import { type Reply, success, WireText } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';
import type { MessagePart } from '../messages/message-parts.js';
import type { PublicRealm } from '../realms/public-realm.js';
import { EventAnswer, newSharedTexts } from './answer.js';
import { CatchUpQueue } from './catch-up-queue.js';
import type { EventContext, EventWriter, Presented } from './event-presenter.js';
import { SharedText } from './event-texts.js';
import type { PublicRealms } from './public-realms.js';
import { can, presentationOf, type QueuePresentation } from './queue-presentation.js';

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
