import { DomainError, type ErrorCode } from './errors.js';
import { type DomainEvent, users } from './event.js';
import type { DataOwner } from './export-parts.js';
import type { ErrorDetails, RepositoryMap } from './feature-types.js';
import type { Caller, MessageId, UnixSeconds } from './ids.js';
import type { Clock } from './ports.js';
import type { SnapshotLoader } from './register-queue.js';
import type { FoundUserRowReads, FoundUserRows, NewRow, RowRules, UserRow, UserRowReads, UserRows } from './rows.js';
import { keepsTooMuchText } from './text.js';
import type { Repositories, Transaction, UnitOfWork } from './unit-of-work.js';

/** Entry of `RepositoryMap` for a list of each user. */
export type PersonalListPorts<Row extends UserRow> = [reads: UserRowReads<Row>, repository: UserRows<Row>];
/** The same for rows that are found by their id alone. */
export type FoundPersonalListPorts<Row extends UserRow> = [
  reads: FoundUserRowReads<Row>,
  repository: FoundUserRows<Row>,
];

type Refusal = readonly [code: Exclude<ErrorCode, keyof ErrorDetails>, text: string];

/** Properties that the user chooses. */
type Fields<Row extends UserRow> = Omit<Row, keyof UserRow>;

/** Declaration of a list that each user has, such as saved snippets. */
interface PersonalListRules<Row extends UserRow, Event extends DomainEvent> {
  readonly rows: Omit<RowRules<Row>, 'owner'>;
  /** Maximum number of rows. */
  readonly max: number;
  readonly unknown: Refusal;
  readonly tooMany: Refusal;
  /** Refusal of rows with `texts` if their total size exceeds the limit of `keepsTooMuchText`. */
  readonly tooLong?: Refusal;
  /** Message that the row quotes. Its deletion removes events with the row from the log. */
  quoted?(row: Row): MessageId | undefined;
  /** Events for the owner. */
  readonly events: { added?(row: Row): Event; changed?(row: Row): Event; removed(row: Row): Event };
}

type Owner = DataOwner;
type Reads = Repositories | Transaction;

/** List that each user has: its rows, limits, refusals, events, initial state and export. */
export class PersonalList<Row extends UserRow, Event extends DomainEvent = DomainEvent> {
  readonly rows: RowRules;

  /** @param name repository */
  constructor(
    readonly name: keyof RepositoryMap,
    private readonly rules: PersonalListRules<Row, Event>,
  ) {
    this.rows = { ...rules.rows, owner: 'user' };
  }

  /** Loads the viewer's rows in their order. */
  readonly load: SnapshotLoader<readonly Row[]> = ({ caller, repositories }) => this.list(repositories, caller);

  list(reads: Reads, { realmId, userId }: Owner, limit = this.rules.max): Promise<readonly Row[]> {
    return this.repositoryOf(reads).list(realmId, userId, limit);
  }

  /** @throws DomainError of `unknown` */
  async get(reads: Reads, { realmId, userId }: Owner, id: Row['id']): Promise<Row> {
    const row =
      this.rows.foundBy === 'realm'
        ? await this.foundRepositoryOf(reads).find(realmId, id)
        : await this.repositoryOf(reads).find(realmId, userId, id);
    if (row?.userId !== userId) throw this.unknown();
    return row;
  }

  unknown(): DomainError {
    return new DomainError(...this.rules.unknown);
  }

  /** @throws DomainError of `tooMany` if the user cannot have so many more rows */
  async requireRoom(reads: Reads, { realmId, userId }: Owner, added = 1): Promise<void> {
    const count = await this.repositoryOf(reads).count(realmId, userId);
    if (count + added > this.rules.max) throw new DomainError(...this.rules.tooMany);
  }

  /** @throws DomainError of `tooLong` if the texts of the user's rows grow beyond the limit */
  async requireRoomForTexts(
    reads: Reads,
    { realmId, userId }: Owner,
    added: readonly Fields<Row>[],
    replaced: readonly Fields<Row>[] = [],
  ): Promise<void> {
    if (!this.rules.tooLong) return;
    const present = await this.repositoryOf(reads).countBytes(realmId, userId);
    if (!keepsTooMuchText(present, this.textsOf(added), this.textsOf(replaced))) return;
    throw new DomainError(...this.rules.tooLong);
  }

  private textsOf(rows: readonly Fields<Row>[]): readonly string[] {
    const texts = (this.rules.rows.texts ?? []) as readonly (keyof Fields<Row>)[];
    return rows.flatMap((row) => texts.map((name) => row[name] as string));
  }

  /** @throws DomainError of `tooMany`, `tooLong` */
  async add(tx: Transaction, { realmId, userId }: Owner, fields: Fields<Row>): Promise<Row> {
    await this.requireRoom(tx, { realmId, userId });
    await this.requireRoomForTexts(tx, { realmId, userId }, [fields]);
    const row = await this.repositoryOf(tx).add({ realmId, userId, ...fields } as unknown as NewRow<Row>);
    await this.publishAdded(tx, row);
    return row;
  }

  publishAdded(tx: Transaction, row: Row): Promise<void> {
    return this.publish(tx, row, this.rules.events.added!(row), row);
  }

  publishChanged(tx: Transaction, row: Row): Promise<void> {
    return this.publish(tx, row, this.rules.events.changed!(row), row);
  }

  /** Replaces a row. @throws DomainError of `tooLong` */
  async change(tx: Transaction, before: Row, row: Row): Promise<void> {
    await this.requireRoomForTexts(tx, row, [row], [before]);
    await this.repositoryOf(tx).update(row);
    await this.publishChanged(tx, row);
  }

  async remove(tx: Transaction, row: Row): Promise<void> {
    const { realmId, userId, id } = row;
    if (this.rows.foundBy === 'realm') await this.foundRepositoryOf(tx).remove(realmId, id);
    else await this.repositoryOf(tx).remove(realmId, userId, id);
    await this.publish(tx, row, this.rules.events.removed(row));
  }

  /** `row`: the only row in the event, if it may quote a message. */
  async publish(tx: Transaction, { realmId, userId }: Owner, event: Event, row?: Row): Promise<void> {
    const quotes = row && this.rules.quoted?.(row);
    await tx.events.append(realmId, { event, audience: users([userId]), ...(quotes !== undefined && { quotes }) });
  }

  private repositoryOf(reads: Reads): UserRows<Row> {
    return (reads as unknown as Readonly<Record<string, UserRows<Row>>>)[this.name]!;
  }

  private foundRepositoryOf(reads: Reads): FoundUserRows<Row> {
    return this.repositoryOf(reads) as unknown as FoundUserRows<Row>;
  }
}

/** Base class of a named use case. */
export interface UseCaseClass<Inject extends readonly string[], Ports extends unknown[], UseCase> {
  readonly inject: Inject;
  new (...ports: Ports): UseCase;
}

type WithUnits<UseCase> = UseCaseClass<readonly ['unitOfWork'], [uow: UnitOfWork], UseCase>;
type WithClock<UseCase> = UseCaseClass<readonly ['unitOfWork', 'clock'], [uow: UnitOfWork, clock: Clock], UseCase>;

/** Use case that lists the caller's rows. */
export const listing = <Row extends UserRow>(
  list: PersonalList<Row>,
): WithUnits<{ execute(caller: Caller): Promise<readonly Row[]> }> =>
  class {
    static readonly inject = ['unitOfWork'] as const;
    constructor(private readonly uow: UnitOfWork) {}

    execute(caller: Caller): Promise<readonly Row[]> {
      return this.uow.read(caller.realmId, (reads) => list.list(reads, caller));
    }
  };

/** Use case that adds a row with the properties that `fieldsOf` returns. */
export const adding = <Row extends UserRow, Input>(
  list: PersonalList<Row>,
  fieldsOf: (input: Input, now: UnixSeconds) => Fields<Row>,
): WithClock<{ execute(caller: Caller, input: Input): Promise<Row['id']> }> =>
  class {
    static readonly inject = ['unitOfWork', 'clock'] as const;
    constructor(
      private readonly uow: UnitOfWork,
      private readonly clock: Clock,
    ) {}

    execute(caller: Caller, input: Input): Promise<Row['id']> {
      return this.uow.write(caller.realmId, async (tx) => {
        const { id } = await list.add(tx, caller, fieldsOf(input, this.clock.now()));
        return id;
      });
    }
  };

/** Null keeps the current value. */
type Changes<Row extends UserRow, Name extends keyof Row> = Pick<Row, 'id'> & {
  readonly [K in Name]: Row[K] | null;
};

/** Use case that changes the named properties of one of the caller's rows. */
export const changing = <Row extends UserRow, Name extends Exclude<keyof Row, keyof UserRow>>(
  list: PersonalList<Row>,
  ...names: readonly Name[]
): WithUnits<{ execute(caller: Caller, input: Changes<Row, Name>): Promise<void> }> =>
  class {
    static readonly inject = ['unitOfWork'] as const;
    constructor(private readonly uow: UnitOfWork) {}

    execute(caller: Caller, input: Changes<Row, Name>): Promise<void> {
      return this.uow.write(caller.realmId, async (tx) => {
        const row = await list.get(tx, caller, input.id);
        const changed = names.filter((name) => input[name] !== null);
        if (changed.length === 0) return;
        await list.change(tx, row, { ...row, ...Object.fromEntries(changed.map((name) => [name, input[name]])) });
      });
    }
  };

/** Use case that removes one of the caller's rows. */
export const removing = <Row extends UserRow>(
  list: PersonalList<Row>,
): WithUnits<{ execute(caller: Caller, input: { readonly id: Row['id'] }): Promise<void> }> =>
  class {
    static readonly inject = ['unitOfWork'] as const;
    constructor(private readonly uow: UnitOfWork) {}

    execute(caller: Caller, { id }: { readonly id: Row['id'] }): Promise<void> {
      return this.uow.write(caller.realmId, async (tx) => list.remove(tx, await list.get(tx, caller, id)));
    }
  };
