import type { Caller } from '../../kernel/caller.js';
import type { MessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import type { UserWithProfile } from '../profile-value.js';
import { withProfiles } from '../user-profiles.js';

export interface GetOwnUserOutput {
  readonly user: UserWithProfile;
  readonly realm: Realm;
  /** Null: has none. */
  readonly newestMessageId: MessageId | null;
}

/** The caller themselves. */
export class GetOwnUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller): Promise<GetOwnUserOutput> {
    return this.uow.read(async (repositories) => {
      await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const user = await repositories.users.find(caller.realmId, caller.userId);
      const [shown] = await withProfiles(repositories, caller.realmId, [user!]);
      return { user: shown!, realm, newestMessageId: await repositories.personal.newestId(caller) };
    });
  }
}
