import type { ApiKeyMint } from '../access/api-keys.js';
import type { Clock } from '../kernel/clock.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { replaceApiKey } from './replace-api-key.js';

/** The key that somebody has, where there is none or `rotates` another one; `find` throws what whoever asks is refused with. */
export async function issueKeyOf(
  { uow, mint, clock }: { readonly uow: UnitOfWork; readonly mint: ApiKeyMint; readonly clock: Clock },
  find: (repositories: Repositories | Transaction) => Promise<{ readonly realmId: RealmId; readonly id: UserId }>,
  { rotates }: { readonly rotates: boolean },
): Promise<string> {
  if (!rotates) {
    const record = await uow.read(async (repositories) => {
      const user = await find(repositories);
      return repositories.apiKeys.find(user.realmId, user.id);
    });
    if (record) return mint.derive(record);
  }
  return uow.write(async (tx) => replaceApiKey(tx, mint, await find(tx), { now: clock.now() }));
}
