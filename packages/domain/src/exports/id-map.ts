import { DomainError } from '../shared/errors.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { type IdKind, MAX_KEPT_ID } from './copy-repository.js';

export const invalidImport = (text: string): DomainError => new DomainError('INVALID_IMPORT', text);

/** Ids of one kind as an export names them, and as they are here. */
export class IdMap<Id extends number> {
  private readonly ids = new Map<Id, Id>();
  private next = 0;
  /** Whether all are what they were. */
  isIdentity = true;

  constructor(
    private readonly kind: IdKind,
    /** As people call one: `user`. */
    private readonly noun: string,
  ) {}

  /** Makes something of the kind under its old id if that is free, which is so in ascending order on a new server. */
  async add<T>(tx: Transaction, old: Id, make: () => Promise<T>, idOf: (made: T) => Id): Promise<T> {
    if (this.ids.has(old)) throw invalidImport(`There are two ${this.noun}s ${old}.`);
    if (old !== this.next && old <= MAX_KEPT_ID) await tx.copies.raiseIds(this.kind, old);
    const made = await make();
    const id = idOf(made);
    this.ids.set(old, id);
    this.next = id + 1;
    if (id !== old) this.isIdentity = false;
    return made;
  }

  /** @throws DomainError INVALID_IMPORT */
  get(old: Id): Id {
    const id = this.ids.get(old);
    if (id === undefined) throw invalidImport(`It names a ${this.noun} ${old} that it does not have.`);
    return id;
  }

  find(old: Id): Id | undefined {
    return this.ids.get(old);
  }

  orNull(old: Id | null): Id | null {
    return old === null ? null : this.get(old);
  }

  list(old: readonly Id[]): Id[] {
    return old.map((id) => this.get(id));
  }
}
