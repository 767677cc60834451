import {
  type CancelTimer,
  type ConsumerUnit,
  EventConsumption,
  type EventListener,
  type ReportProblem,
  type Timers,
  type Transaction,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { SendMessage } from '@parley/domain/messages';
import type { Resolve } from '../injector.js';
import type { Worker } from '../workers/recurring-worker.js';
import { inputOf, type MessageToSend } from './chat-messages.js';
import { EventPresenter, type ParleyEvent, type ParleyEventType } from './events.js';
import { Addresses, type UserRef } from './references.js';

/**
 * What a consumer changes in the transaction that stores that its events are done with: all of it or nothing, and once for
 * each event, even where the events come again. It is done after the handler has returned.
 */
export interface ConsumerTransaction {
  /** The organization that the events are of. */
  readonly realm: string;
  /**
   * Sends a message as a user. A refusal, now or then, brings the events again: send what may be refused with `parley.as`
   * instead.
   */
  send(as: UserRef, message: MessageToSend): Promise<void>;
  /** Work on the storage itself. It awaits nothing but `tx`. */
  write(work: (tx: Transaction) => Promise<void>): void;
}

/** Of one organization, in their order, one or more; may wait for whatever it likes. */
export type EventHandler<T extends ParleyEventType = ParleyEventType> = (
  events: readonly ParleyEvent<T>[],
  tx: ConsumerTransaction,
) => Promise<void> | void;

export interface ConsumeOptions<T extends ParleyEventType = ParleyEventType> {
  /** Only these; default: all. */
  readonly types?: readonly T[];
  /** Where a consumer begins that has never been here: with what happens from now on (default), or with the oldest event there is. */
  readonly from?: 'now' | 'oldest';
  /** In one call; default: 100. */
  readonly maxEvents?: number;
}

/** A consumer at work. */
export interface Consumer {
  /** Lets the handler finish; the consumer goes on where it stood when it is started again. Idempotent. */
  stop(): Promise<void>;
}

const MAX_EVENTS = { default: 100, most: 1000 } as const;

export interface ConsumersParts {
  readonly uow: UnitOfWork;
  readonly timers: Timers;
  readonly report: ReportProblem;
  readonly resolve: Resolve;
  /** For as long as a consumer runs: a process may do nothing else. Answers how it is ended. */
  readonly keepAlive: () => CancelTimer;
}

/** The host application's consumers of events that run in this process. */
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

  onEvents(): void {
    for (const consumption of this.running.values()) consumption?.wake();
  }

  onUnreadable(): void {
    this.onEvents();
  }

  /** @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS; Error when one of this name runs */
  async consume<T extends ParleyEventType>(
    name: string,
    handler: EventHandler<T>,
    { types, from = 'now', maxEvents = MAX_EVENTS.default }: ConsumeOptions<T>,
  ): Promise<Consumer> {
    if (this.running.has(name)) throw new Error(`The consumer '${name}' runs already.`);
    if (!Number.isInteger(maxEvents) || maxEvents < 1 || maxEvents > MAX_EVENTS.most) {
      throw new RangeError(`maxEvents is a whole number from 1 to ${MAX_EVENTS.most}.`);
    }
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
            const tx = new StagedTransaction(resolve, events[0]!.realm);
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

  /** Gives up its place for good. Whether there was one. */
  async forget(name: string): Promise<boolean> {
    await this.running.get(name)?.stop();
    this.running.delete(name);
    this.holdOrRelease();
    return this.parts.uow.write(({ consumers }) => consumers.remove(name));
  }
}

/** Collects what is to be done, while the handler may wait for other things: a unit may not. */
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
    const sendMessage = this.resolve(SendMessage);
    const caller = await addresses.caller(as, 'parley');
    const input = await sendMessage.ask(caller, await inputOf(addresses, caller, message));
    const prepared = await sendMessage.prepare(caller, input);
    this.requireOpen();
    this.staged.push(async (tx) => {
      await sendMessage.send(tx, caller, await sendMessage.check(tx, caller, prepared), input);
    });
  }

  write(work: (tx: Transaction) => Promise<void>): void {
    this.requireOpen();
    this.staged.push((tx) => work(tx));
  }

  /** Null: nothing is to be done. */
  end(): ConsumerUnit | null {
    this.isOver = true;
    if (this.staged.length === 0) return null;
    return async (tx) => {
      for (const work of this.staged) await work(tx);
    };
  }

  private requireOpen(): void {
    if (this.isOver) throw new Error('The handler has returned: what it does with tx, it has to await.');
  }
}
