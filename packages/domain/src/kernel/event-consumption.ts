import { DomainError } from './errors.js';
import { isMaintenance } from './event.js';
import { isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import type { EventSeq, RealmId } from './ids.js';
import type { CancelTimer, ReportProblem, Timers } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';
import { firstOf, lastOf } from './work.js';

/** Limit in code points. */
export const MAX_CONSUMER_NAME_LENGTH = 100;
/** Limit per server. Each consumer keeps events in the log until it has processed them. */
export const MAX_CONSUMERS = 50;
/** Maximum number of events per realm that the log keeps for lagging consumers. */
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
  /** Returns the names in ascending order. */
  list(): Promise<readonly string[]>;
  /**
   * Returns the last processed event of each realm; a missing realm is read from the beginning. Returns null if the
   * consumer is unknown.
   */
  findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null>;
  /**
   * Returns the lowest position of all consumers in the realm, 0 if one has read nothing, or null without consumers.
   */
  lowestPosition(realmId: RealmId): Promise<number | null>;
}

/**
 * Positions of the host application's event consumers in each realm's log. Every implementation passes
 * event-consumer-repository.contract.ts.
 */
export interface EventConsumerRepository extends EventConsumerReads {
  /** Returns false and changes nothing if the name is taken. @throws DomainError TOO_MANY_CONSUMERS */
  add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean>;
  /**
   * Moves the position from one event to a later one. Returns false and changes nothing if the position is not `from`;
   * 0 means the beginning. The same if the realm was deleted.
   */
  advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean>;
  /** Returns true if the consumer existed. */
  remove(name: string): Promise<boolean>;
}

export const tooManyConsumers = (): DomainError =>
  new DomainError('TOO_MANY_CONSUMERS', `There are too many consumers of events (limit: ${MAX_CONSUMERS}).`);

declare module './feature-types.js' {
  interface RepositoryMap {
    consumers: [reads: EventConsumerReads, repository: EventConsumerRepository];
  }
}

/** Work inside the transaction that stores the position. Must await nothing but its repositories. */
export type ConsumerUnit = (tx: Transaction) => Promise<void>;

/**
 * Receives the next events of one realm, at least one, in seq order. Runs outside transactions and may block; if it
 * throws, the events are delivered again. Returns null if only the position has to be stored.
 */
export type ConsumeEvents = (realmId: RealmId, events: readonly StoredEvent[]) => Promise<ConsumerUnit | null>;

export interface ConsumerOptions {
  readonly name: string;
  readonly consume: ConsumeEvents;
  /** Selects the events to deliver; others are skipped. */
  readonly isWanted: (event: StoredEvent) => boolean;
  /** Starting position of a new consumer. */
  readonly begins: 'now' | 'atOldestEvent';
  /** Maximum number of events per batch. */
  readonly maxEvents: number;
  /**
   * True if events for which `consume` returns null may be redelivered after a crash, so that their position is stored
   * lazily; default: false.
   */
  readonly savesLazily?: boolean;
}

export interface ConsumptionParts {
  readonly uow: UnitOfWork;
  readonly timers: Timers;
  readonly report: ReportProblem;
}

const PAGE_BYTES = 1024 * 1024;
/** Position in a realm: the last event stored as processed and the last event read. Events in between were skipped. */
interface Position {
  stored: number;
  read: number;
}

/** Initial and maximum retry delay. */
const RETRY_MS = [250, 60_000] as const;
/** Back-off while another server consumes the realm faster, to avoid duplicate work. */
const BACK_OFF_MS = 15_000;
/** Maximum number of skipped events that may be reread after a crash. */
const MAX_UNSAVED = 500;
/** Maximum time until a position is stored. The log keeps the events behind it, and the texts in them. */
const SAVE_MS = 60_000;
/** Number of offered events kept per realm; consumers that need more read the log. */
const MAX_OFFERED = 256;

/** Consecutive committed events, keeping only the wanted ones. */
interface OfferedEvents {
  /** Event before the first offered one. */
  readonly after: number;
  last: number;
  readonly events: StoredEvent[];
}

/** Events to deliver, up to `last`. */
interface Batch {
  readonly events: readonly StoredEvent[];
  readonly last: number;
  /** True if more events may follow. */
  readonly hasNext: boolean;
}

/** Another server has moved the position. */
class ConsumedElsewhere extends Error {
  constructor(name: string) {
    super(`another process consumes the events of '${name}', or the consumer was removed`);
    this.name = 'ConsumedElsewhere';
  }
}

/**
 * Processes the log of each realm for one consumer. Each event is delivered at least once, in realm order. The position
 * is stored after processing, in the same transaction as the consumer's changes.
 */
export class EventConsumption {
  private readonly positions = new Map<RealmId, Position>();
  private readonly offered = new Map<RealmId, OfferedEvents>();
  private readonly retries = new Map<RealmId, { delayMs: number; cancel: CancelTimer | null }>();
  /** Last known positions of realms that another server consumes. */
  private readonly elsewhere = new Map<RealmId, number>();
  private draining: Promise<void> | null = null;
  private isWoken = false;
  /** Realms with new events; null for all realms. */
  private woken: Set<RealmId> | null = null;
  private isStopped = false;
  private isSaveDue = false;
  private cancelSave: CancelTimer | null = null;

  private constructor(
    private readonly options: ConsumerOptions,
    private readonly parts: ConsumptionParts,
  ) {}

  /** @throws DomainError INVALID_CONSUMER_NAME, TOO_MANY_CONSUMERS */
  static async start(options: ConsumerOptions, parts: ConsumptionParts): Promise<EventConsumption> {
    checkConsumerName(options.name);
    const consumption = new EventConsumption(options, parts);
    await parts.uow.writeAcross(async ({ consumers, events }) => {
      if (await consumers.findPositions(options.name)) return;
      const ends = await events.listLastSeqs();
      const isFromNow = options.begins === 'now';
      await consumers.add(options.name, new Map(ends.map((end) => [end.realmId, beginning(end, isFromNow)])));
    });
    consumption.wake();
    return consumption;
  }

  /** Schedules reading of these realms, or of all realms by default. Cheap and idempotent; called after commits. */
  wake(realmIds?: Iterable<RealmId>): void {
    if (!realmIds) this.woken = null;
    else if (!this.isWoken) this.woken = new Set(realmIds);
    else if (this.woken) for (const id of realmIds) this.woken.add(id);
    this.isWoken = true;
    if (this.isStopped) return;
    this.draining ??= this.drain().finally(() => {
      this.draining = null;
      if (this.isWoken && !this.isStopped) this.wake(this.woken ?? undefined);
    });
  }

  /** Keeps a committed event in memory, so that the next `wake` does not read it from the log. Cheap. */
  offer(stored: StoredEvent): void {
    const { realmId, seq, event } = stored;
    let offered = this.offered.get(realmId);
    // Deleted content must not be kept.
    if (!offered || seq !== offered.last + 1 || offered.events.length >= MAX_OFFERED || event.type === 'blanked') {
      offered = { after: seq - 1, last: seq, events: [] };
      this.offered.set(realmId, offered);
    }
    offered.last = seq;
    if (this.isDelivered(stored)) offered.events.push(stored);
  }

  /** Resolves when the consumer has finished its current batch. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const { cancel } of this.retries.values()) cancel?.();
    await this.draining;
    this.cancelSave?.();
    await this.saveAll();
  }

  private async saveAll(): Promise<void> {
    for (const [realmId, position] of this.positions) {
      await this.attempt(realmId, () => this.save(realmId, position, null));
    }
  }

  private saveSoon(): void {
    this.cancelSave ??= this.parts.timers.after(SAVE_MS, () => {
      this.cancelSave = null;
      this.isSaveDue = true;
      this.wake([]);
    });
  }

  private async drain(): Promise<void> {
    while (this.isWoken && !this.isStopped) {
      const woken = this.woken;
      this.isWoken = false;
      this.woken = null;
      for (const realmId of woken ?? (await this.listBehind())) {
        if (!this.retries.get(realmId)?.cancel) await this.attempt(realmId, () => this.readOn(realmId));
      }
      if (this.isSaveDue) {
        this.isSaveDue = false;
        await this.saveAll();
      }
    }
  }

  /** Returns the realms with events to read. */
  private async listBehind(): Promise<readonly RealmId[]> {
    try {
      const ends = await this.parts.uow.readAcross(({ events }) => events.listLastSeqs());
      return ends
        .filter(({ realmId, seq }) => seq > (this.positions.get(realmId)?.read ?? -1))
        .map(({ realmId }) => realmId);
    } catch (err) {
      this.reportProblem('reading the log failed', { err });
      return [];
    }
  }

  private async readOn(realmId: RealmId): Promise<void> {
    const position = this.positions.get(realmId) ?? (await this.readPosition(realmId));
    while (!this.isStopped) {
      const batch = await this.nextBatch(realmId, position);
      if (!batch) return;
      const { events, last, hasNext } = batch;
      const unit = events.length > 0 ? await this.options.consume(realmId, events) : null;
      position.read = last;
      const isDue = unit !== null || (events.length > 0 && !this.options.savesLazily);
      if (isDue || position.read - position.stored >= MAX_UNSAVED) await this.save(realmId, position, unit);
      else this.saveSoon();
      if (!hasNext) return;
    }
  }

  /** Returns null at the end of the log. */
  private async nextBatch(realmId: RealmId, position: Position): Promise<Batch | null> {
    const { read: after } = position;
    const offered = this.offered.get(realmId);
    this.offered.delete(realmId);
    // These events were read from the log before they were offered; later ones will be, too.
    if (offered && offered.last <= after) return null;
    if (!offered || offered.after > after) return this.readLog(realmId, position);
    const events = offered.events.filter(({ seq }) => seq > after);
    if (events.length <= this.options.maxEvents) return { events, last: offered.last, hasNext: false };
    const taken = events.splice(0, this.options.maxEvents);
    const last = lastOf(taken).seq;
    this.offered.set(realmId, { after: last, last: offered.last, events });
    return { events: taken, last, hasNext: true };
  }

  /** Returns null at the end of the log. */
  private async readLog(realmId: RealmId, position: Position): Promise<Batch | null> {
    const { read: after } = position;
    const page = await this.parts.uow.read(realmId, ({ events }) =>
      events.listAfter(realmId, after as EventSeq, this.options.maxEvents, PAGE_BYTES),
    );
    if (page.length === 0) return null;
    await this.logGaps(realmId, position, page);
    const events = page.filter(isReadable).filter((each) => this.isDelivered(each));
    return { events, last: lastOf(page).seq, hasNext: true };
  }

  private isDelivered(stored: StoredEvent): boolean {
    return !isMaintenance(stored.event) && this.options.isWanted(stored);
  }

  private async save(realmId: RealmId, position: Position, unit: ConsumerUnit | null): Promise<void> {
    if (position.read === position.stored) return;
    const { name } = this.options;
    await this.parts.uow.write(realmId, async (tx) => {
      if (!(await tx.consumers.advance(name, realmId, position.stored, position.read as EventSeq))) {
        this.elsewhere.set(realmId, position.stored);
        throw new ConsumedElsewhere(name);
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
      // Only the stored position decides which of several servers consumes the events.
      const isElsewhere = err instanceof ConsumedElsewhere;
      if (!isElsewhere) this.reportProblem('consuming events failed; they come again', { realmId, err });
      if (this.isStopped) return;
      const longerMs = (this.retries.get(realmId)?.delayMs ?? RETRY_MS[0] / 2) * 2;
      const delayMs = isElsewhere ? BACK_OFF_MS : Math.min(longerMs, RETRY_MS[1]);
      const retry = {
        delayMs,
        cancel: this.parts.timers.after(delayMs, () => {
          this.retries.set(realmId, { delayMs, cancel: null });
          this.wake([realmId]);
        }),
      };
      this.retries.set(realmId, retry);
      // Another process may advance the position in the meantime, so it is read again.
      this.positions.delete(realmId);
    }
  }

  private async readPosition(realmId: RealmId): Promise<Position> {
    const { name } = this.options;
    const stored = await this.findStored();
    if (!stored) throw new Error(`the consumer '${name}' was removed`);
    const seq = stored.get(realmId) ?? 0;
    // This server leaves the events to the other one as long as that one advances.
    const lastKnown = this.elsewhere.get(realmId) ?? seq;
    if (seq !== lastKnown) {
      this.elsewhere.set(realmId, seq);
      throw new ConsumedElsewhere(name);
    }
    this.elsewhere.delete(realmId);
    const position = { stored: seq, read: seq };
    this.positions.set(realmId, position);
    return position;
  }

  private findStored(): Promise<ReadonlyMap<RealmId, EventSeq> | null> {
    return this.parts.uow.readAcross(({ consumers }) => consumers.findPositions(this.options.name));
  }

  private async logGaps(
    realmId: RealmId,
    { read: after, stored }: Position,
    page: readonly LoggedEvent[],
  ): Promise<void> {
    const oldest = firstOf(page);
    const first = oldest.seq;
    const hasForked = isReadable(oldest) && oldest.event.type === 'forked';
    // The first events of a realm may be pruned before a consumer starts.
    if (after > 0 && first > after + 1 && !hasForked) {
      // Another server may have consumed the missing events.
      if ((await this.findStored())?.get(realmId) !== stored) throw new ConsumedElsewhere(this.options.name);
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
