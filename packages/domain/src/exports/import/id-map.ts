import { DomainError } from '../../kernel/errors.js';
import type { MessageId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { type IdKind, MAX_KEPT_ID } from '../copy-repository.js';
import type { ImportSource } from '../realm-copy.js';

export const invalidImport = (text: string): DomainError => new DomainError('INVALID_IMPORT', text);

/** Ids of one kind as an export names them, and as they are here. */
export abstract class KnownIds<Id extends number> {
  /** Whether all are what they were. */
  isIdentity = true;

  constructor(
    /** As people call one: `user`. */
    protected readonly noun: string,
  ) {}

  abstract find(old: Id): Id | undefined;

  /** @throws DomainError INVALID_IMPORT */
  get(old: Id): Id {
    const id = this.find(old);
    if (id === undefined) throw invalidImport(`It names a ${this.noun} ${old} that it does not have.`);
    return id;
  }

  orNull(old: Id | null): Id | null {
    return old === null ? null : this.get(old);
  }

  list(old: readonly Id[]): Id[] {
    return old.map((id) => this.get(id));
  }
}

/** Ids that are taken one by one. */
export class IdMap<Id extends number> extends KnownIds<Id> {
  private readonly ids = new Map<Id, Id>();
  private next = 0;

  constructor(
    private readonly kind: IdKind,
    noun: string,
  ) {
    super(noun);
  }

  /** Makes something of the kind, or its id, under its old id if that is free, which is so in ascending order on a new server. */
  async add<T extends Id | { readonly id: Id }>(tx: Transaction, old: Id, make: () => Promise<T>): Promise<T> {
    if (this.ids.has(old)) throw invalidImport(`There are two ${this.noun}s ${old}.`);
    if (old !== this.next && old <= MAX_KEPT_ID) await tx.copies.raiseIds(this.kind, old);
    const made = await make();
    const id: Id = idOf(made);
    this.ids.set(old, id);
    this.next = id + 1;
    if (id !== old) this.isIdentity = false;
    return made;
  }

  find(old: Id): Id | undefined {
    return this.ids.get(old);
  }
}

/**
 * Those of messages, which are all decided before the first of them is there: texts name earlier and later ones. There may be
 * millions.
 */
export class MessageIds extends KnownIds<MessageId> {
  private ranges = new IdRanges();
  /** Within which all are what they were; null: they were planned. */
  private free: { readonly first: MessageId; readonly last: MessageId } | null = null;

  constructor() {
    super('message');
  }

  /**
   * Keeps ids for all that will come: their own if nobody has had one of them, which is so on a new server. Otherwise the source
   * is read for their ids first. @throws DomainError INVALID_IMPORT
   */
  async reserve(uow: UnitOfWork, source: Pick<ImportSource, 'messageRange' | 'messageIds'>): Promise<void> {
    const range = await source.messageRange();
    if (range === null) return;
    const { first, last } = range;
    const areFree = await uow.write(async (tx) => {
      if (last > MAX_KEPT_ID || (await tx.copies.lastId('message')) >= first) return false;
      await tx.copies.raiseIds('message', last + 1);
      return true;
    });
    if (areFree) this.free = range;
    else await this.plan(uow, source);
  }

  /**
   * Where the messages go that come next.
   * @throws DomainError INVALID_IMPORT also where they are none of those that were reserved
   */
  take(old: readonly MessageId[]): readonly MessageId[] {
    if (this.free === null) return this.list(old);
    for (const id of old) {
      if (id < this.free.first || id > this.free.last) throw invalidImport(`Message ${id} is not in its place.`);
      this.ranges.add(id, id);
    }
    return old;
  }

  find(old: MessageId): MessageId | undefined {
    return this.ranges.find(old) as MessageId | undefined;
  }

  /** Each keeps its id if that is free. */
  private async plan(uow: UnitOfWork, source: Pick<ImportSource, 'messageIds'>): Promise<void> {
    const all: (readonly MessageId[])[] = [];
    for await (const ids of source.messageIds()) all.push(ids);
    this.ranges = await uow.write(async (tx) => {
      const ranges = new IdRanges();
      let next = (await tx.copies.lastId('message')) + 1;
      for (const ids of all) {
        for (const wanted of ids) {
          const id = wanted >= next && wanted <= MAX_KEPT_ID ? wanted : next;
          ranges.add(wanted, id);
          next = id + 1;
        }
        await tx.yield();
      }
      await tx.copies.raiseIds('message', next);
      return ranges;
    });
    this.isIdentity = this.ranges.areIdentity;
  }
}

/** Ids of messages, which ascend, as ranges that moved by the same distance. */
class IdRanges {
  areIdentity = true;
  private readonly firsts: number[] = [];
  private readonly lasts: number[] = [];
  private readonly distances: number[] = [];

  /** @throws DomainError INVALID_IMPORT */
  add(old: number, id: number): void {
    const at = this.lasts.length - 1;
    const last = this.lasts[at] ?? 0;
    if (old === last) throw invalidImport(`There are two messages ${old}.`);
    if (old < last) throw invalidImport(`Message ${old} comes after message ${last}.`);
    const distance = id - old;
    if (distance !== 0) this.areIdentity = false;
    if (old === last + 1 && distance === this.distances[at]) this.lasts[at] = old;
    else {
      this.firsts.push(old);
      this.lasts.push(old);
      this.distances.push(distance);
    }
  }

  find(old: number): number | undefined {
    const at = this.rangeBefore(old);
    if (at < 0 || old > this.lasts[at]!) return undefined;
    return old + this.distances[at]!;
  }

  /** The last range that begins there or before; -1: none does. */
  private rangeBefore(old: number): number {
    let [low, high] = [0, this.firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.firsts[middle]! <= old) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

const idOf = <Id extends number>(made: Id | { readonly id: Id }): Id => (typeof made === 'number' ? made : made.id);
