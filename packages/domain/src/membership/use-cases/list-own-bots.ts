import type { ApiKeyMint } from '../../access/api-keys.js';
import { mustNotBeGuest } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { replaceApiKey } from '../../push/replace-api-key.js';
import type { Realm } from '../../realms/realm.js';
import { viewBots } from '../bot-view.js';
import type { KeyedBot } from './create-bot.js';

export interface OwnBots {
  readonly realm: Realm;
  /** In the order of joining. */
  readonly bots: readonly KeyedBot[];
}

/** The caller's active bots, with their keys (users §15). */
export class ListOwnBots {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_NOT_BE_GUEST */
  async execute(caller: Caller): Promise<OwnBots> {
    const { uow, mint, clock } = this;
    const { realm, found } = await uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      const { realmId } = actor;
      const ids = await repositories.bots.listOwnedIds(realmId, actor.id);
      const users = (await repositories.users.list(realmId, ids)).filter(({ isActive }) => isActive);
      const found = [];
      for (const bot of await viewBots(repositories, realmId, users)) {
        found.push({ bot, record: await repositories.apiKeys.find(realmId, bot.user.id) });
      }
      return { realm: await repositories.realms.get(realmId), found };
    });
    const bots: KeyedBot[] = [];
    for (const { bot, record } of found) {
      const newKey = () => uow.write((tx) => replaceApiKey(tx, mint, bot.user, { now: clock.now() }));
      bots.push({ ...bot, apiKey: record ? mint.derive(record) : await newKey() });
    }
    return { realm, bots };
  }
}
