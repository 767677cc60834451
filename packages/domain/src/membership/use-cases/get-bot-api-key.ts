import type { ApiKeyMint } from '../../access/api-keys.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { issueKeyOf } from '../../push/issue-key.js';
import { getAdministeredBot } from '../get-administered-bot.js';

/** A bot's key, for its owner and administrators (users §15). */
export class GetBotApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<string> {
    const { uow, mint, clock } = this;
    return issueKeyOf(
      { uow, mint, clock },
      async (repositories) => getAdministeredBot(repositories, await repositories.actors.get(caller), botId),
      { rotates: false },
    );
  }
}
