import type { Caller } from '../../kernel/caller.js';
import type { UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { deactivate } from '../deactivate.js';
import { getAdministeredBot } from '../get-administered-bot.js';

/** Nobody can be this bot any more, until somebody reactivates it (users §15). */
export class DeactivateBot {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Again: without effect. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const bot = await getAdministeredBot(tx, actor, botId);
      if (bot.isActive) await deactivate(tx, bot);
    });
  }
}
