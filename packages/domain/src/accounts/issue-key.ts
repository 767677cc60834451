import type { ApiKeyMint } from '../authentication/api-keys.js';
import { replaceApiKey } from '../push/replace-api-key.js';
import type { Clock } from '../shared/clock.js';
import type { Repositories, Transaction, UnitOfWork } from '../shared/unit-of-work.js';
import type { User } from '../users/user.js';

type Reads = Pick<Repositories | Transaction, 'users' | 'externalIds'>;

/** The key that somebody has, where there is none or `rotates` another one; `find` throws what whoever asks is refused with. */
export async function issueKeyOf(
  { uow, mint, clock }: { readonly uow: UnitOfWork; readonly mint: ApiKeyMint; readonly clock: Clock },
  find: (reads: Reads) => Promise<User>,
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
