import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { PushService } from '../push-service.js';
import { type PushToken, requirePushToken } from '../push-token.js';
import { enforceHuman, isSame } from './add-push-token.js';

/** Notifies a phone no more that was registered in the way of older apps (organization §13). */
export class RemovePushToken {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_BOT, INVALID_PUSH_TOKEN, UNKNOWN_PUSH_TOKEN, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, input: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    const { realm, token } = await this.uow.read(async (repositories) => {
      await enforceHuman(repositories, caller);
      requirePushToken(input.kind, input.token);
      const tokens = await repositories.pushTokens.list(caller.realmId, caller.userId);
      const found = tokens.find((it) => isSame(it, input));
      if (!found) throw new DomainError('UNKNOWN_PUSH_TOKEN', 'Token does not exist');
      return { realm: await repositories.realms.get(caller.realmId), token: found };
    });
    await this.service?.unregisterToken({ realm, userId: caller.userId }, token);
    await this.uow.write((tx) => tx.pushTokens.remove(caller.realmId, caller.userId, token));
  }
}
