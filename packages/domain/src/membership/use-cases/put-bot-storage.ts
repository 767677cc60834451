import { mustBeBot } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import { slicesOf } from '../../kernel/slices.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type StoredEntry, usageAfter } from '../bot-storage.js';
import { ENTRIES_AT_A_TIME } from './get-bot-storage.js';

/** Stores texts for the calling bot, beside what it has stored before (users §14). */
export class PutBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** All or nothing; no key twice. @throws DomainError MUST_BE_BOT, BOT_STORAGE_FULL */
  execute(caller: Caller, { entries }: { readonly entries: readonly StoredEntry[] }): Promise<void> {
    return this.uow.write(async (tx) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      const keys = entries.map(({ key }) => key);
      usageAfter(await tx.botStorage.usage(realmId, id), entries, await tx.botStorage.sizesOf(realmId, id, keys));
      for (const slice of slicesOf(entries, ENTRIES_AT_A_TIME)) {
        await tx.botStorage.put(realmId, id, slice);
        await tx.yield();
      }
    });
  }
}
