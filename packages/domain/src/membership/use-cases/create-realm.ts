import type { Clock, Randomness } from '../../kernel/clock.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { type ServerAddress, takesServerAddress } from '../../realms/server-address.js';
import { addRealm, checkNewRealm } from '../add-realm.js';

export interface CreateRealmInput {
  readonly stringId: string;
  readonly name: string;
}

/** For the operator and the host application; no user may call it. */
export class CreateRealm {
  static readonly inject = ['unitOfWork', 'clock', 'randomness', 'serverAddress'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly server: ServerAddress,
  ) {}

  /** @throws DomainError INVALID_STRING_ID, STRING_ID_TAKEN, INVALID_REALM_NAME, NO_ADDRESS_LEFT */
  async execute({ stringId, name }: CreateRealmInput): Promise<Realm> {
    checkNewRealm({ stringId, name });
    const uuid = this.randomness.uuid();
    return this.uow.write(async (tx) => {
      const isAtServerAddress = takesServerAddress(stringId, await tx.realms.list(), this.server);
      return addRealm(tx, { stringId, name, uuid, isAtServerAddress, createdAt: this.clock.now() });
    });
  }
}
