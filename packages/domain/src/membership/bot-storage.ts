import './bots.js';
import { mustBeBot } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { codePointLength } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';

/** What a bot has stored under a key: texts that mean something to the bot alone. */
export interface StoredEntry {
  readonly key: string;
  readonly value: string;
}

/** Of one bot: keys and values together, in code points; and how many keys. */
export interface StorageUsage {
  readonly size: number;
  readonly keys: number;
}

/** Of one bot (users §14). */
export const MAX_BOT_STORAGE_SIZE = 10_000_000;
export const MAX_BOT_STORAGE_KEYS = 100_000;

export const sizeOfEntry = ({ key, value }: StoredEntry): number => codePointLength(key) + codePointLength(value);

/**
 * What a bot uses once `entries` are stored, of which some take the place of what has the sizes `replaced`, by key.
 * @throws DomainError BOT_STORAGE_FULL
 */
export function usageAfter(
  usage: StorageUsage,
  entries: readonly StoredEntry[],
  replaced: ReadonlyMap<string, number>,
): StorageUsage {
  let { size, keys } = usage;
  for (const entry of entries) {
    const before = replaced.get(entry.key);
    size += sizeOfEntry(entry) - (before ?? 0);
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

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    botStorage: [reads: BotStorageReads, repository: BotStorageRepository];
  }
}

export interface BotStorageReads {
  /** Nothing for who has never stored anything. */
  usage(realmId: RealmId, botId: UserId): Promise<StorageUsage>;
  /** Sizes as `sizeOfEntry`, of those keys that there are. */
  sizesOf(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Under those of the keys that there are; in the order of the keys. */
  list(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<readonly StoredEntry[]>;
  /** Ascending by the code points of the keys, beyond `after`; null: from the first. */
  listAfter(realmId: RealmId, botId: UserId, after: string | null, limit: number): Promise<readonly StoredEntry[]>;
}

/** Every implementation passes bot-storage-repository.contract.ts. */
export interface BotStorageRepository extends BotStorageReads {
  /** Each under its key, in place of what was there; no key twice. */
  put(realmId: RealmId, botId: UserId, entries: readonly StoredEntry[]): Promise<void>;
  /** Without effect for keys that there are not. */
  remove(realmId: RealmId, botId: UserId, keys: readonly string[]): Promise<void>;
  /** Some of everything, at most `limit`. Answers how many. */
  removeSome(realmId: RealmId, botId: UserId, limit: number): Promise<number>;
}

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

const REMOVE_BOT_STORAGE_ENTRIES_AT_A_TIME = 1000;

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
      while ((await tx.botStorage.removeSome(realmId, id, REMOVE_BOT_STORAGE_ENTRIES_AT_A_TIME)) > 0) await tx.yield();
    });
  }
}
