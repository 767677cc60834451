import type { ApiKeyMint } from '../../authentication/api-keys.js';
import type { Caller } from '../../shared/caller.js';
import type { UserId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { getAdministeredBot } from '../get-administered-bot.js';

/** A bot's key, for its owner and administrators (users §15). */
export class GetBotApiKey {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
  ) {}

  /** @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<string> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const { id, realmId } = await getAdministeredBot(repositories, actor, botId);
      return this.mint.derive((await repositories.apiKeys.find(realmId, id))!);
    });
  }
}
