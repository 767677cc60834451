import { mustBeBot } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { unknownStoredKey } from '../bot-storage.js';

const ENTRIES_AT_A_TIME = 1000;

/** Forgets what the calling bot has stored (users §14). */
export class RemoveBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `keys` null: everything. All or nothing. @throws DomainError MUST_BE_BOT, UNKNOWN_STORED_KEY also for a key named twice */
  execute(caller: Caller, { keys }: { readonly keys: readonly string[] | null }): Promise<void> {
    return this.uow.write(async (tx) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      if (keys) {
        const { size } = await tx.botStorage.sizesOf(realmId, id, keys);
        if (size < keys.length) throw unknownStoredKey();
        await tx.botStorage.remove(realmId, id, keys);
        return;
      }
      while ((await tx.botStorage.removeSome(realmId, id, ENTRIES_AT_A_TIME)) > 0) await tx.yield();
    });
  }
}
