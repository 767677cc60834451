import type { ApiKeyMint } from '../../access/api-keys.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { replaceApiKey } from '../../push/replace-api-key.js';
import { getAdministeredBot } from '../get-administered-bot.js';

/** Another key for a bot (users §15). */
export class RegenerateBotApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** Answers it. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<string> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const bot = await getAdministeredBot(tx, actor, botId);
      return replaceApiKey(tx, this.mint, bot, { now: this.clock.now() });
    });
  }
}

/** Another key for oneself, person or bot: whoever had the one before is signed out, older apps included (users §15). */
export class RegenerateApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** Answers it. */
  execute(caller: Caller): Promise<string> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      return replaceApiKey(tx, this.mint, actor, { now: this.clock.now(), except: caller.sessionId });
    });
  }
}
