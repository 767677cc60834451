import type { Caller, EventHub, LiveQueue, Randomness, WakeReason } from '@parley/domain';
import { type Reply, success, WireText } from '../routing/reply.js';
import type { Request } from '../routing/request.js';
import type { EventContext } from './event.presenters.js';
import { textsOf } from './event-texts.js';
import { presentationOf } from './queue-presentation.js';
import type { RealmPlaces } from './realm-places.js';

/** Bounds of one answer; the next poll goes on (events §6.3). */
const MAX_EVENTS = 1000;
const MAX_CHARACTERS = 4_000_000;
/** After so long without an event a poll is answered with a heartbeat (events §6.1). */
const HEARTBEAT_SECONDS = 45;
const HEARTBEAT_JITTER_SECONDS = 10;

export interface Poll {
  readonly queueId: string;
  readonly lastPosition: number;
  readonly dontBlock: boolean;
}

/** `GET /events`: an answer now if there is something to say, else when there is. */
export class LongPoll {
  private readonly wheel = new TimerWheel();

  constructor(
    private readonly hub: EventHub,
    private readonly places: RealmPlaces,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError EVENT_QUEUE_NOT_FOUND, INVALID_INPUT */
  async poll(caller: Caller, { queueId, lastPosition, dontBlock }: Poll, request: Request): Promise<Reply> {
    const live = await this.hub.open(caller.realmId, caller.userId, queueId, lastPosition);
    await this.hub.acknowledge(live, lastPosition);
    const context: EventContext = {
      queue: live.queue,
      presentation: presentationOf(live.queue),
      place: await this.places.of(caller.realmId),
      roleOf: () => this.hub.roleOf(live),
    };
    const texts = this.collect(live, context);
    if (texts.length > 0 || dontBlock) return success(new WireText(`"events":[${texts.join()}]`));
    return this.wait(live, context, request);
  }

  /** What there is for the client beyond what it has acknowledged. */
  private collect(live: LiveQueue, context: EventContext): string[] {
    const texts: string[] = [];
    let characters = 0;
    let firstShown: number | null = null;
    for (const delivery of live.deliveries) {
      if (texts.length >= MAX_EVENTS || characters >= MAX_CHARACTERS) break;
      for (const { position, text } of textsOf(delivery, context)) {
        if (position <= live.acked) continue;
        firstShown ??= delivery.stored.seq;
        texts.push(text);
        characters += text.length;
        live.lastGiven = Math.max(live.lastGiven, position);
      }
    }
    // What says nothing to this client need not wait for its acknowledgement.
    live.dropBefore(firstShown ?? Number.POSITIVE_INFINITY);
    return texts;
  }

  private wait(live: LiveQueue, context: EventContext, request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      let isFlushing = false;
      const finish = (texts: readonly string[]) => {
        live.stopWaiting(wake);
        cancelHeartbeat();
        const queueId = JSON.stringify(live.queue.id);
        resolve(success(new WireText(`"events":[${texts.join()}],"queue_id":${queueId}`)));
      };
      const flush = () => {
        isFlushing = false;
        const texts = this.collect(live, context);
        if (texts.length > 0) finish(texts);
      };
      const wake = (reason: WakeReason) => {
        if (reason !== 'event') finish(this.collect(live, context));
        else if (!isFlushing) {
          isFlushing = true;
          // Units of one commit come one by one; a client is told of them together.
          setImmediate(flush);
        }
      };
      const beat = () => {
        this.heartbeat(live).then((text) => finish([...this.collect(live, context), text]), reject);
      };
      const seconds = HEARTBEAT_SECONDS + this.randomness.fraction() * HEARTBEAT_JITTER_SECONDS;
      const cancelHeartbeat = this.wheel.after(seconds, beat);
      live.waitFor(wake);
      request.onClose(() => finish([]));
    });
  }

  private async heartbeat(live: LiveQueue): Promise<string> {
    const position = await this.hub.takeUnloggedPosition(live);
    return `{"type":"heartbeat","id":${position}}`;
  }

  close(): void {
    this.wheel.close();
  }
}

/** One timer for everybody who waits, to the second: ten thousand polls are ten thousand entries, not as many timers. */
class TimerWheel {
  private readonly slots = new Map<number, Set<() => void>>();
  private tick = 0;
  private timer: NodeJS.Timeout | null = null;

  /** Answers how to call it off. */
  after(seconds: number, action: () => void): () => void {
    const due = this.tick + Math.max(1, Math.round(seconds));
    let slot = this.slots.get(due);
    if (!slot) {
      slot = new Set();
      this.slots.set(due, slot);
    }
    slot.add(action);
    this.timer ??= setInterval(() => this.turn(), 1000).unref();
    return () => {
      slot.delete(action);
    };
  }

  private turn(): void {
    this.tick++;
    const slot = this.slots.get(this.tick);
    this.slots.delete(this.tick);
    for (const action of slot ?? []) action();
    if (this.slots.size === 0) this.close();
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }
}
