import {
  type CancelTimer,
  type ConsumerUnit,
  DomainError,
  EventConsumption,
  type EventListener,
  firstOf,
  type ReportProblem,
  type StoredEvent,
  type Timers,
  type Transaction,
  type UnitOfWork,
  type UnreadableEvent,
} from '@parley/domain/kernel';
import { MessageSender } from '@parley/domain/writing';
import type { Resolve } from '../kernel/resolve.js';
import { listOf, object, oneOf, optional } from '../kernel/values.js';
import type { Worker } from '../workers/recurring-worker.js';
import { argument, CHECKED_BY_USE, EVENT_TYPE, FUNCTION, properties, TEXT } from './argument-types.js';
import { inputOf, type MessageToSend } from './chat-messages.js';
import { EventPresenter, type ParleyEvent, type ParleyEventType } from './events.js';
import { Addresses, type UserRef } from './references.js';

/**
 * Changes made by a consumer in the transaction that stores its position: atomic, and exactly once per event even after
 * redelivery. Executed after the handler has returned.
 */
export interface ConsumerTransaction {
  /** Organization of the events. */
  readonly realm: string;
  /**
   * Sends a message as a user. A rejection redelivers the events: send messages that may be rejected with `parley.as`
   * instead.
   */
  send(as: UserRef, message: MessageToSend): Promise<void>;
  /** Writes to the storage directly. The callback may await only `tx`. */
  write(work: (tx: Transaction) => Promise<void>): void;
}

/** Handles one or more events of one organization in order; may await anything. */
export type EventHandler<T extends ParleyEventType = ParleyEventType> = (
  events: readonly ParleyEvent<T>[],
  tx: ConsumerTransaction,
) => Promise<void> | void;

export interface ConsumeOptions<T extends ParleyEventType = ParleyEventType> {
  /** Event types to receive; default: all. */
  readonly types?: readonly T[];
  /** Start position of a new consumer: future events (default) or the oldest stored event. */
  readonly from?: 'now' | 'oldest';
  /** Maximum number of events per call; default: 100. */
  readonly maxEvents?: number;
}

/** Running consumer. */
export interface Consumer {
  /** Waits for the handler; a restarted consumer continues at its position. Idempotent. */
  stop(): Promise<void>;
}

/** Name prefix of Parley's internal consumers. */
const OWN_CONSUMERS = 'parley.';
const MAX_EVENTS = { default: 100, most: 1000 } as const;

const OPTIONS = object({
  types: optional(listOf(EVENT_TYPE, { max: 1000 })),
  from: optional(oneOf(['now', 'oldest'])),
  maxEvents: optional(CHECKED_BY_USE),
});

export interface ConsumersParts {
  readonly uow: UnitOfWork;
  readonly timers: Timers;
  readonly report: ReportProblem;
  readonly resolve: Resolve;
  /** Keeps the process alive while a consumer runs. Returns a function that releases it. */
  readonly keepAlive: () => CancelTimer;
}

/** Event consumers of the host application that run in this process. */
export class Consumers implements Worker, EventListener {
  readonly name = 'the consumers of events';
  private readonly running = new Map<string, EventConsumption | null>();
  private release: CancelTimer | null = null;

  constructor(private readonly parts: ConsumersParts) {}

  start(): void {}

  async stop(): Promise<void> {
    await Promise.all([...this.running.values()].map((consumption) => consumption?.stop()));
    this.running.clear();
    this.holdOrRelease();
  }

  onEvents(events: readonly StoredEvent[]): void {
    const realmIds = new Set(events.map(({ realmId }) => realmId));
    for (const consumption of this.running.values()) {
      for (const event of events) consumption?.offer(event);
      consumption?.wake(realmIds);
    }
  }

  onUnreadable({ realmId }: UnreadableEvent): void {
    for (const consumption of this.running.values()) consumption?.wake([realmId]);
  }

  /** @throws DomainError INVALID_ARGUMENT, INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS; Error if a consumer of this name is running */
  async consume<T extends ParleyEventType>(
    name: string,
    handler: EventHandler<T>,
    options: ConsumeOptions<T>,
  ): Promise<Consumer> {
    argument('name', TEXT, name);
    argument('The handler', FUNCTION, handler);
    const { types, from = 'now', maxEvents = MAX_EVENTS.default } = properties('The options', OPTIONS, options);
    if (name.startsWith(OWN_CONSUMERS)) {
      throw new DomainError('INVALID_CONSUMER_NAME', `Names of consumers must not begin with '${OWN_CONSUMERS}'`);
    }
    if (!Number.isInteger(maxEvents) || maxEvents < 1 || maxEvents > MAX_EVENTS.most) {
      throw new RangeError(`maxEvents must be an integer from 1 to ${MAX_EVENTS.most}.`);
    }
    if (this.running.has(name)) throw new Error(`The consumer '${name}' is already running.`);
    const { uow, timers, report, resolve } = this.parts;
    const wanted = types && new Set<string>(types);
    this.running.set(name, null);
    try {
      const consumption = await EventConsumption.start(
        {
          name,
          begins: from === 'now' ? 'now' : 'atOldestEvent',
          maxEvents,
          isWanted: ({ event }) => wanted === undefined || wanted.has(event.type),
          consume: async (realmId, stored) => {
            const events = (await resolve(EventPresenter).present(realmId, stored)) as readonly ParleyEvent<T>[];
            if (events.length === 0) return null;
            const tx = new StagedTransaction(resolve, firstOf(events).realm);
            await handler(events, tx);
            return tx.end();
          },
        },
        { uow, timers, report },
      );
      this.running.set(name, consumption);
      this.holdOrRelease();
      return {
        stop: async () => {
          if (this.running.get(name) === consumption) this.running.delete(name);
          await consumption.stop();
          this.holdOrRelease();
        },
      };
    } catch (error) {
      this.running.delete(name);
      throw error;
    }
  }

  private holdOrRelease(): void {
    if (this.running.size > 0) this.release ??= this.parts.keepAlive();
    else {
      this.release?.();
      this.release = null;
    }
  }

  /** Removes a consumer's position permanently. Returns true if there was one. */
  async forget(name: string): Promise<boolean> {
    await this.running.get(name)?.stop();
    this.running.delete(name);
    this.holdOrRelease();
    return this.parts.uow.writeAcross(({ consumers }) => consumers.remove(name));
  }
}

/** Collects changes for a later transaction, since handlers may await anything but transactions may not. */
class StagedTransaction implements ConsumerTransaction {
  private readonly staged: ConsumerUnit[] = [];
  private isOver = false;

  constructor(
    private readonly resolve: Resolve,
    readonly realm: string,
  ) {}

  async send(as: UserRef, message: MessageToSend): Promise<void> {
    this.requireOpen();
    const addresses = this.resolve(Addresses);
    const sender = this.resolve(MessageSender);
    const caller = await addresses.caller(as, 'parley');
    const input = await inputOf(addresses, caller, message);
    const prepared = await sender.prepare(caller, await sender.review.ask(caller, input));
    this.requireOpen();
    this.staged.push(async (tx) => {
      await sender.sendOnce(tx, caller, prepared, input);
    });
  }

  write(work: (tx: Transaction) => Promise<void>): void {
    this.requireOpen();
    this.staged.push((tx) => work(tx));
  }

  /** Returns the collected changes; null if there are none. */
  end(): ConsumerUnit | null {
    this.isOver = true;
    if (this.staged.length === 0) return null;
    return async (tx) => {
      for (const work of this.staged) await work(tx);
    };
  }

  private requireOpen(): void {
    if (this.isOver) throw new Error('The handler has already returned; it must await everything it does with tx.');
  }
}
