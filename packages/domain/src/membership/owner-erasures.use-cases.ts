import { mustBeOwner } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { type OwnPassword, PasswordCheck, requireRecentLogIn } from '../users/authentication.js';
import type { User } from '../users/user.js';
import { type Erasure, type ErasureLedger, requireErasable } from './erasures.js';
import { eraseWithEntry, findErasure } from './erasures.use-cases.js';

/** @throws DomainError MUST_BE_OWNER, UNKNOWN_USER */
async function loadPerson(reads: Repositories, caller: Caller, personId: UserId): Promise<User> {
  enforce(mustBeOwner(await reads.actors.get(caller)));
  return reads.users.get(caller.realmId, personId);
}

export interface RequestErasureInput extends OwnPassword {
  readonly personId: UserId;
  /** Current name of the person, as a confirmation. */
  readonly name: string;
  readonly everythingWritten: boolean;
}

/** Erases a person on behalf of an owner (extensions §19), like `EraseUser`. */
export class RequestErasure {
  static readonly inject = [PasswordCheck, 'erasureLedger'] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly ledger: ErasureLedger,
  ) {}

  /**
   * @throws DomainError MUST_BE_OWNER, UNKNOWN_USER, MUST_NOT_BE_BOT, USER_MERGED, LAST_OWNER, OTHER_NAME, LOG_IN_REQUIRED,
   * RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD
   */
  async execute(
    caller: Caller,
    { personId, name, everythingWritten, ...proof }: RequestErasureInput,
  ): Promise<Erasure> {
    const { uow, clock } = this.check;
    const load = async (reads: Repositories) => {
      const person = await loadPerson(reads, caller, personId);
      await requireErasable(reads, person);
      if (name.trim() !== person.fullName) throw new DomainError('OTHER_NAME', 'This is not the name of the user.');
      return person;
    };
    await uow.read(caller.realmId, load);
    await requireRecentLogIn(this.check, caller, proof);
    const { erasure, entry } = await uow.write(caller.realmId, async (tx) =>
      eraseWithEntry(tx, await load(tx), { requestedAt: clock.now(), everythingWritten }),
    );
    await this.ledger.add([entry]);
    return erasure;
  }
}

/** Returns the erasure of a person with its progress; null if the person was not erased. */
export class GetErasure {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER, UNKNOWN_USER */
  execute(caller: Caller, { personId }: { readonly personId: UserId }): Promise<Erasure | null> {
    return this.uow.read(
      caller.realmId,
      async (reads) => (await findErasure(reads, await loadPerson(reads, caller, personId))) ?? null,
    );
  }
}
