import type { Clock, Randomness } from '../../shared/clock.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { foundRealm } from '../found-realm.js';
import type { Realm } from '../realm.js';

export interface CreateRealmInput {
  readonly stringId: string;
  readonly name: string;
}

/** For the operator and the host application; no user may call it. */
export class CreateRealm {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /** @throws DomainError INVALID_INPUT for a malformed or taken string id. */
  execute({ stringId, name }: CreateRealmInput): Promise<Realm> {
    const uuid = this.randomness.uuid();
    return this.uow.write((tx) => foundRealm(tx, { stringId, name, uuid, createdAt: this.clock.now() }));
  }
}
