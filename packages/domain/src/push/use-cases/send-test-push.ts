import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type PushService, requirePushService } from '../push-service.js';
import { enforceHuman } from './add-push-token.js';

/** Sends a test to phones that are registered in the way of older apps (organization §13). */
export class SendTestPush {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * `token` null: to all of the caller's, of which there may be none. @throws DomainError MUST_NOT_BE_BOT,
   * PUSH_DEVICE_NOT_RECOGNIZED, PUSH_SERVICE_NOT_CONFIGURED, PUSH_TOKEN_UNKNOWN_TO_SERVICE, PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED,
   * PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, input: { readonly token: string | null }): Promise<void> {
    const { realm, tokens } = await this.uow.read(async (repositories) => {
      await enforceHuman(repositories, caller);
      const all = await repositories.pushTokens.list(caller.realmId, caller.userId);
      const wanted = input.token === null ? all : all.filter(({ token }) => token === input.token);
      if (input.token !== null && wanted.length === 0) {
        throw new DomainError('PUSH_DEVICE_NOT_RECOGNIZED', 'Device not recognized');
      }
      return { realm: await repositories.realms.get(caller.realmId), tokens: wanted };
    });
    if (tokens.length === 0) return;
    const service = requirePushService(this.service);
    for (const token of tokens) await service.sendTest({ realm, userId: caller.userId }, token);
  }
}
