import { DomainError } from './errors.js';
import { isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import type { EventSeq, RealmId } from './ids.js';
import type { CancelTimer, ReportProblem, Timers } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';

/** In code points. */
export const MAX_CONSUMER_NAME_LENGTH = 100;
/** On the whole server: each keeps events in the log until it is done with them. */
export const MAX_CONSUMERS = 50;
/** In a realm: so many events the log keeps for a consumer that is behind, and no more. */
export const MAX_EVENTS_FOR_CONSUMERS = 1_000_000;

/** @throws DomainError INVALID_CONSUMER_NAME */
export function checkConsumerName(name: string): void {
  if (!/^[\p{L}\p{N}._:-]+$/u.test(name) || name.length > MAX_CONSUMER_NAME_LENGTH) {
    throw new DomainError(
      'INVALID_CONSUMER_NAME',
      `The name of a consumer is up to ${MAX_CONSUMER_NAME_LENGTH} letters, digits and . _ : -`,
    );
  }
}

export interface EventConsumerReads {
  /** Ascending names. */
  list(): Promise<readonly string[]>;
  /** By realm: the last event that it is done with. A realm that is absent it reads from the beginning. Null: no such consumer. */
  findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null>;
  /** Of all consumers in the realm, 0 for one that has read nothing of it; null while there is no consumer. */
  lowestPosition(realmId: RealmId): Promise<number | null>;
}

/**
 * Parts of the host application that work through every event, each with its place in every log. Every implementation passes
 * event-consumer-repository.contract.ts.
 */
export interface EventConsumerRepository extends EventConsumerReads {
  /** Answers false, and changes nothing, when there is one of this name. @throws DomainError TOO_MANY_CONSUMERS */
  add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean>;
  /** From one event to a later one. Answers false, and changes nothing, when it does not stand at `from` (0: the beginning). */
  advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
}

export const tooManyConsumers = (): DomainError =>
  new DomainError('TOO_MANY_CONSUMERS', `There are too many consumers of events (limit: ${MAX_CONSUMERS}).`);

declare module './unit-of-work.js' {
  interface RepositoryMap {
    consumers: [reads: EventConsumerReads, repository: EventConsumerRepository];
  }
}

/** What is to be done in the unit that stores that the events are done with. Awaits nothing but its repositories. */
export type ConsumerUnit = (tx: Transaction) => Promise<void>;

/**
 * Gets the next events of one realm, at least one, in order of seq. Runs outside of any unit, so that it may wait for whatever
 * it likes; a throw brings the same events again later. Null: there is nothing to store but that they are done with.
 */
export type ConsumeEvents = (realmId: RealmId, events: readonly StoredEvent[]) => Promise<ConsumerUnit | null>;

export interface ConsumerOptions {
  readonly name: string;
  readonly consume: ConsumeEvents;
  /** Which events it is for; those it is not for are passed over. */
  readonly isWanted: (event: StoredEvent) => boolean;
  /** Where a consumer of this name begins that has never been here before. */
  readonly begins: 'now' | 'atOldestEvent';
  /** At once. */
  readonly maxEvents: number;
}

export interface ConsumptionParts {
  readonly uow: UnitOfWork;
  readonly timers: Timers;
  readonly report: ReportProblem;
}

const PAGE_BYTES = 1024 * 1024;
/** In a realm: the last event that it is stored to be done with, and the last one read; what lies between was passed over. */
interface Position {
  stored: number;
  read: number;
}

/** After a failure, and at most. */
const RETRY_MS = [250, 60_000] as const;
/** So many events that were passed over may come again after a crash: nobody sees them. */
const MAX_UNSAVED = 500;

/**
 * Works through the log of each realm for one consumer. Every event reaches it at least once, in the order of its realm: where
 * it stands is stored after it is done with them, together with what it wants to change.
 */
export class EventConsumption {
  private readonly positions = new Map<RealmId, Position>();
  private readonly retries = new Map<RealmId, { delayMs: number; cancel: CancelTimer | null }>();
  private draining: Promise<void> | null = null;
  private isWoken = false;
  private isStopped = false;

  private constructor(
    private readonly options: ConsumerOptions,
    private readonly parts: ConsumptionParts,
  ) {}

  /** @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS */
  static async start(options: ConsumerOptions, parts: ConsumptionParts): Promise<EventConsumption> {
    checkConsumerName(options.name);
    const consumption = new EventConsumption(options, parts);
    await parts.uow.write(async ({ consumers, events }) => {
      if (await consumers.findPositions(options.name)) return;
      const ends = await events.listLastSeqs();
      const isFromNow = options.begins === 'now';
      await consumers.add(options.name, new Map(ends.map((end) => [end.realmId, beginning(end, isFromNow)])));
    });
    consumption.wake();
    return consumption;
  }

  /** Cheap and idempotent: called after each commit. */
  wake(): void {
    this.isWoken = true;
    if (this.isStopped) return;
    this.draining ??= this.drain().finally(() => {
      this.draining = null;
      if (this.isWoken && !this.isStopped) this.wake();
    });
  }

  /** Lets the consumer finish what it is at. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const { cancel } of this.retries.values()) cancel?.();
    await this.draining;
    for (const [realmId, position] of this.positions) {
      await this.attempt(realmId, () => this.save(realmId, position, null));
    }
  }

  private async drain(): Promise<void> {
    while (this.isWoken && !this.isStopped) {
      this.isWoken = false;
      let ends: readonly { readonly realmId: RealmId; readonly seq: EventSeq }[];
      try {
        ends = await this.parts.uow.read(({ events }) => events.listLastSeqs());
      } catch (err) {
        this.reportProblem('reading the log failed', { err });
        return;
      }
      for (const { realmId, seq } of ends) {
        const isDone = seq <= (this.positions.get(realmId)?.read ?? -1);
        if (!isDone && !this.retries.get(realmId)?.cancel) await this.attempt(realmId, () => this.readOn(realmId));
      }
    }
  }

  private async readOn(realmId: RealmId): Promise<void> {
    const { maxEvents, isWanted, consume } = this.options;
    const position = this.positions.get(realmId) ?? (await this.readPosition(realmId));
    while (!this.isStopped) {
      const page = await this.parts.uow.read(({ events }) =>
        events.listAfter(realmId, position.read as EventSeq, maxEvents, PAGE_BYTES),
      );
      const last = page.at(-1);
      if (!last) return;
      this.logGaps(realmId, position.read, page);
      const events = page.filter(isReadable).filter((each) => each.event.type !== 'blank' && isWanted(each));
      const unit = events.length > 0 ? await consume(realmId, events) : null;
      position.read = last.seq;
      if (events.length > 0 || position.read - position.stored >= MAX_UNSAVED) await this.save(realmId, position, unit);
    }
  }

  private async save(realmId: RealmId, position: Position, unit: ConsumerUnit | null): Promise<void> {
    if (position.read === position.stored) return;
    const { name } = this.options;
    await this.parts.uow.write(async (tx) => {
      if (!(await tx.consumers.advance(name, realmId, position.stored, position.read as EventSeq))) {
        throw new Error(`another process works through the events of '${name}', or it was removed`);
      }
      await unit?.(tx);
    });
    position.stored = position.read;
  }

  private async attempt(realmId: RealmId, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.retries.delete(realmId);
    } catch (err) {
      this.reportProblem('consuming events failed; they come again', { realmId, err });
      if (this.isStopped) return;
      const delayMs = Math.min((this.retries.get(realmId)?.delayMs ?? RETRY_MS[0] / 2) * 2, RETRY_MS[1]);
      const retry = {
        delayMs,
        cancel: this.parts.timers.after(delayMs, () => {
          this.retries.set(realmId, { delayMs, cancel: null });
          this.wake();
        }),
      };
      this.retries.set(realmId, retry);
      // Another process may go on in between: what is stored is read again.
      this.positions.delete(realmId);
    }
  }

  private async readPosition(realmId: RealmId): Promise<Position> {
    const { name } = this.options;
    const stored = await this.parts.uow.read(({ consumers }) => consumers.findPositions(name));
    if (!stored) throw new Error(`the consumer '${name}' was removed`);
    const seq = stored.get(realmId) ?? 0;
    const position = { stored: seq, read: seq };
    this.positions.set(realmId, position);
    return position;
  }

  private logGaps(realmId: RealmId, after: number, page: readonly LoggedEvent[]): void {
    const first = page[0]!.seq;
    // What a realm began with may be gone before a consumer comes.
    if (after > 0 && first > after + 1) {
      this.reportProblem('a consumer was too far behind: events are lost to it', { realmId, after, before: first });
    }
    for (const logged of page) {
      if (!isReadable(logged)) {
        this.reportProblem('a consumer passes over an event', { realmId, seq: logged.seq, reason: logged.reason });
      }
    }
  }

  private reportProblem(problem: string, fields: Readonly<Record<string, unknown>>): void {
    this.parts.report(problem, { consumer: this.options.name, ...fields });
  }
}

const beginning = (end: { readonly seq: EventSeq; readonly prunedUpTo: number }, isFromNow: boolean): EventSeq =>
  isFromNow ? end.seq : (end.prunedUpTo as EventSeq);
