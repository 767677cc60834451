import { DomainError } from '../../shared/errors.js';
import type { MessageId } from '../../shared/ids.js';
import type { Transaction } from '../../shared/unit-of-work.js';
import { type IdKind, MAX_KEPT_ID } from '../copy-repository.js';

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

/** Those of messages: there may be millions, which ascend, so that they are kept as ranges that moved by the same distance. */
export class MessageIds extends KnownIds<MessageId> {
  private readonly firsts: number[] = [];
  private readonly lasts: number[] = [];
  private readonly distances: number[] = [];

  constructor() {
    super('message');
  }

  /** Takes ids for messages, each its old one if that is free. They come after all that came before. */
  async take(tx: Transaction, old: readonly MessageId[]): Promise<readonly MessageId[]> {
    let next = (await tx.copies.lastId('message')) + 1;
    const ids = old.map((wanted) => {
      const id = (wanted >= next && wanted <= MAX_KEPT_ID ? wanted : next) as MessageId;
      this.add(wanted, id);
      next = id + 1;
      return id;
    });
    await tx.copies.raiseIds('message', next);
    return ids;
  }

  find(old: MessageId): MessageId | undefined {
    const at = this.rangeBefore(old);
    if (at < 0 || old > this.lasts[at]!) return undefined;
    return (old + this.distances[at]!) as MessageId;
  }

  private add(old: MessageId, id: MessageId): void {
    const at = this.lasts.length - 1;
    const last = this.lasts[at] ?? 0;
    if (old === last) throw invalidImport(`There are two messages ${old}.`);
    if (old < last) throw invalidImport(`Message ${old} comes after message ${last}.`);
    const distance = id - old;
    if (distance !== 0) this.isIdentity = false;
    if (old === last + 1 && distance === this.distances[at]) this.lasts[at] = old;
    else {
      this.firsts.push(old);
      this.lasts.push(old);
      this.distances.push(distance);
    }
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
