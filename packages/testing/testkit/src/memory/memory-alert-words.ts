import { foldCase, type RealmId, type UserId } from '@parley/domain/kernel';
import type { AlertWordRepository } from '@parley/domain/users';
import { alertSegment } from '@parley/domain/writing';
import { keyOf, type MemoryUnit } from './tables.js';

interface AlertWords {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Words by lower case, oldest first. */
  readonly words: ReadonlyMap<string, string>;
}

declare module './tables.js' {
  interface Tables {
    /** Words by realm and user. */
    readonly alertWords: Map<string, AlertWords>;
  }
}

export class MemoryAlertWords implements AlertWordRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, userId: UserId): Promise<readonly string[]> {
    return [...this.of(realmId, userId).values()];
  }

  async hasAny(realmId: RealmId): Promise<boolean> {
    return this.ofRealm(realmId).some(({ words }) => words.size > 0);
  }

  async listBySegment(realmId: RealmId, segments: ReadonlySet<string>) {
    const found = new Map<string, UserId[]>();
    for (const { userId, words } of this.ofRealm(realmId)) {
      for (const word of words.keys()) {
        if (!segments.has(alertSegment(word))) continue;
        found.set(
          word,
          [...(found.get(word) ?? []), userId].sort((a, b) => a - b),
        );
      }
    }
    return found;
  }

  async add(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    const present = new Map(this.of(realmId, userId));
    for (const word of words) if (!present.has(foldCase(word))) present.set(foldCase(word), word);
    this.put(realmId, userId, present);
  }

  async remove(realmId: RealmId, userId: UserId, words: readonly string[]): Promise<void> {
    const left = new Map(this.of(realmId, userId));
    for (const word of words) left.delete(foldCase(word));
    this.put(realmId, userId, left);
  }

  private ofRealm(realmId: RealmId): AlertWords[] {
    return [...this.unit.read('alertWords').values()].filter((row) => row.realmId === realmId);
  }

  private of(realmId: RealmId, userId: UserId): ReadonlyMap<string, string> {
    return this.unit.read('alertWords').get(keyOf(realmId, userId))?.words ?? new Map();
  }

  private put(realmId: RealmId, userId: UserId, words: ReadonlyMap<string, string>): void {
    this.unit.change('alertWords').set(keyOf(realmId, userId), { realmId, userId, words });
  }
}
