import { mustBeBot } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { codePointLength } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import type {} from './bots.js';

/** Text stored by a bot under a key; the server does not interpret it. */
export interface StoredEntry {
  readonly key: string;
  readonly value: string;
}

/** Entry with its size, which is computed before the unit that stores it. */
export interface MeasuredEntry extends StoredEntry {
  /** Code points of key and value together. */
  readonly size: number;
}

/** Storage used by one bot: code points of keys and values together, and the number of keys. */
export interface StorageUsage {
  readonly size: number;
  readonly keys: number;
}

/** Per bot (users §14). */
export const MAX_BOT_STORAGE_SIZE = 10_000_000;
export const MAX_BOT_STORAGE_KEYS = 100_000;

export const measured = ({ key, value }: StoredEntry): MeasuredEntry => ({
  key,
  value,
  size: codePointLength(key) + codePointLength(value),
});

/**
 * Returns the usage after storing `entries`. `replaced` holds the sizes of replaced entries, by key.
 * @throws DomainError BOT_STORAGE_FULL
 */
export function usageAfter(
  usage: StorageUsage,
  entries: readonly MeasuredEntry[],
  replaced: ReadonlyMap<string, number>,
): StorageUsage {
  let { size, keys } = usage;
  for (const entry of entries) {
    const before = replaced.get(entry.key);
    size += entry.size - (before ?? 0);
    if (before === undefined) keys++;
  }
  if (size > MAX_BOT_STORAGE_SIZE) {
    const excess = size - MAX_BOT_STORAGE_SIZE;
    throw storageFull(
      `Request exceeds storage limit by ${excess} characters. The limit is ${MAX_BOT_STORAGE_SIZE} characters.`,
    );
  }
  if (keys > MAX_BOT_STORAGE_KEYS) throw storageFull(`Too many keys (limit: ${MAX_BOT_STORAGE_KEYS}).`);
  return { size, keys };
}

const storageFull = (message: string) => new DomainError('BOT_STORAGE_FULL', message);

export const unknownStoredKey = () => new DomainError('UNKNOWN_STORED_KEY', 'Key does not exist.');

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    botStorage: [reads: BotStorageReads, repository: BotStorageRepository];
  }
}

export interface BotStorageReads {
  /** Returns zero for a bot that never stored anything. */
  usage(realmId: RealmId, botId: UserId): Promise<StorageUsage>;
  /** Returns sizes as computed by `measured`; unknown keys are absent. */
  sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns entries in key order; unknown keys are absent. */
  list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]>;
  /** Returns entries after the key `after`, ascending by code points; null starts at the first. */
  listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number): Promise<readonly StoredEntry[]>;
}

/** Every implementation passes bot-storage-repository.contract.ts. */
export interface BotStorageRepository extends BotStorageReads {
  /** Replaces existing entries; keys must be unique. */
  put(realmId: RealmId, botId: UserId, entries: readonly MeasuredEntry[]): Promise<void>;
  /** Ignores unknown keys. */
  remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void>;
  /** Removes at most `limit` entries and returns the number removed. */
  removeSome(realmId: RealmId, botId: UserId, limit: number): Promise<number>;
}

/** Returns the entries stored by the calling bot (users §14). */
export class GetBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Null `keys` returns all entries. Duplicate keys are returned once. @throws DomainError MUST_BE_BOT,
   * UNKNOWN_STORED_KEY
   */
  execute(caller: Caller, { keys }: { readonly keys: readonly string[] | null }): Promise<readonly StoredEntry[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const { id, realmId, isBot } = await repositories.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      const { botStorage } = repositories;
      if (keys) {
        const wanted = [...new Set(keys)];
        const found = await botStorage.list(realmId, id, wanted);
        if (found.length < wanted.length) throw unknownStoredKey();
        return found;
      }
      const found: StoredEntry[] = [];
      for (;;) {
        const page = await botStorage.listAfter(realmId, id, found.at(-1)?.key ?? null, ENTITIES_PER_PAGE);
        found.push(...page);
        if (page.length < ENTITIES_PER_PAGE) return found;
      }
    });
  }
}

/** Stores entries for the calling bot in addition to existing ones (users §14). */
export class PutBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Atomic; keys must be unique. @throws DomainError MUST_BE_BOT, BOT_STORAGE_FULL */
  execute(caller: Caller, { entries }: { readonly entries: readonly MeasuredEntry[] }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      const keys = entries.map(({ key }) => key);
      usageAfter(await tx.botStorage.usage(realmId, id), entries, await tx.botStorage.sizesOf(realmId, id, keys));
      await tx.botStorage.put(realmId, id, entries);
    });
  }
}

/** Maximum number of entries that one unit of work removes, except for named ones. */
export const MAX_REMOVED_AT_ONCE = 5000;

/** Deletes entries stored by the calling bot (users §14). */
export class RemoveBotStorage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Null `keys` removes all entries, in several units of work; otherwise atomic. @throws DomainError MUST_BE_BOT,
   * UNKNOWN_STORED_KEY also for a key named twice
   */
  execute(caller: Caller, { keys }: { readonly keys: readonly string[] | null }): Promise<void> {
    if (keys === null) return this.removeAll(caller);
    return this.uow.write(caller.realmId, async (tx) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      const { size } = await tx.botStorage.sizesOf(realmId, id, keys);
      if (size < keys.length) throw unknownStoredKey();
      await tx.botStorage.remove(realmId, id, keys);
    });
  }

  /** Leaves no job: after a crash, it would remove what the restarted bot has stored. */
  private async removeAll(caller: Caller): Promise<void> {
    const removePart = async (tx: Transaction) => {
      const { id, realmId, isBot } = await tx.actors.get(caller);
      enforce(mustBeBot({ isBot }));
      return tx.botStorage.removeSome(realmId, id, MAX_REMOVED_AT_ONCE);
    };
    while ((await this.uow.write(caller.realmId, removePart, { yields: true })) === MAX_REMOVED_AT_ONCE);
  }
}
