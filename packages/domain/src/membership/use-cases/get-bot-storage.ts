import { mustBeBot } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import { slicesOf } from '../../kernel/slices.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type StoredEntry, unknownStoredKey } from '../bot-storage.js';

/** Read at once; the event loop may turn in between. */
export const ENTRIES_AT_A_TIME = 200;

/** What the calling bot has stored (users §14). */
export class GetBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `keys` null: everything. A key that is named twice is answered once. @throws DomainError MUST_BE_BOT, UNKNOWN_STORED_KEY */
  execute(caller: Caller, { keys }: { readonly keys: readonly string[] | null }): Promise<readonly StoredEntry[]> {
    return this.uow.read(async (repositories) => {
      const { id, realmId, isBot } = await repositories.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      const { botStorage } = repositories;
      const found: StoredEntry[] = [];
      if (keys) {
        const wanted = [...new Set(keys)];
        for (const slice of slicesOf(wanted, ENTRIES_AT_A_TIME)) {
          found.push(...(await botStorage.list(realmId, id, slice)));
          await repositories.yield();
        }
        if (found.length < wanted.length) throw unknownStoredKey();
        return found;
      }
      for (;;) {
        const page = await botStorage.listAfter(realmId, id, found.at(-1)?.key ?? null, ENTRIES_AT_A_TIME);
        found.push(...page);
        if (page.length < ENTRIES_AT_A_TIME) return found;
        await repositories.yield();
      }
    });
  }
}
