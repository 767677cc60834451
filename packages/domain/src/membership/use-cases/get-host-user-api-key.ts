import type { ApiKeyMint } from '../../access/api-keys.js';
import type { Clock } from '../../kernel/clock.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { issueKeyOf } from '../../push/issue-key.js';
import { accountDeactivated } from '../../users/use-cases/password-log-in.js';
import { getHostUser, type HostUserReference } from '../find-host-user.js';

export interface GetHostUserApiKeyInput {
  readonly realmId: RealmId;
  readonly user: HostUserReference;
  /** Makes a new one: whoever had the one before is signed out. */
  readonly rotate: boolean;
}

/** A user's API key, for the host application to hand to their app. */
export class GetHostUserApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, USER_DEACTIVATED */
  execute({ realmId, user: by, rotate }: GetHostUserApiKeyInput): Promise<string> {
    const { uow, mint, clock } = this;
    return issueKeyOf(
      { uow, mint, clock },
      async (reads) => {
        const user = await getHostUser(reads, realmId, by);
        if (!user.isActive) throw accountDeactivated();
        return user;
      },
      { rotates: rotate },
    );
  }
}
