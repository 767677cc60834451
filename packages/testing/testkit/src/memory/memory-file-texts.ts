import { type FileTextRepository, MAX_READ_ATTEMPTS, MAX_READ_BYTES, type StoredFile } from '@parley/domain/files';
import type { FileId, RealmId } from '@parley/domain/kernel';
import type { SearchedWord } from '@parley/domain/markdown';
import { containsWords } from '@parley/domain/messages';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly fileTerms: Map<FileId, ReadonlySet<string>>;
    /** Attempts to read queued files. */
    readonly filesToRead: Map<FileId, number>;
  }
}

export class MemoryFileTexts implements FileTextRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, words: readonly SearchedWord[], limit: number): Promise<readonly FileId[]> {
    return [...this.unit.read('fileTerms')]
      .filter(([id, terms]) => this.fileOf(id)?.realmId === realmId && containsWords(terms, words))
      .map(([id]) => id)
      .sort((a, b) => b - a)
      .slice(0, limit);
  }

  async hasQueued(): Promise<boolean> {
    return this.unit.read('filesToRead').size > 0;
  }

  async readAgain(realmId: RealmId | null): Promise<void> {
    for (const { file } of this.unit.read('files').values()) {
      const isWanted = file.size <= MAX_READ_BYTES && (realmId === null || file.realmId === realmId);
      if (isWanted && !this.unit.read('filesToRead').has(file.id)) this.unit.change('filesToRead').set(file.id, 0);
    }
  }

  async take(after: RealmId | null): Promise<StoredFile | null> {
    for (const [id, attempts] of this.unit.read('filesToRead')) {
      if (attempts >= MAX_READ_ATTEMPTS || !this.fileOf(id)) this.unit.change('filesToRead').delete(id);
    }
    const realmOf = (id: FileId) => this.fileOf(id)!.realmId;
    const queued = [...this.unit.read('filesToRead')].sort(
      ([a, attemptsA], [b, attemptsB]) => realmOf(a) - realmOf(b) || attemptsA - attemptsB || b - a,
    );
    const next = queued.find(([id]) => realmOf(id) > (after ?? 0)) ?? queued[0];
    if (!next) return null;
    this.unit.change('filesToRead').set(next[0], next[1] + 1);
    return this.fileOf(next[0]);
  }

  async add(realmId: RealmId, id: FileId, terms: readonly string[]): Promise<void> {
    if (this.fileOf(id)?.realmId !== realmId) return;
    this.unit.change('fileTerms').set(id, new Set([...(this.unit.read('fileTerms').get(id) ?? []), ...terms]));
  }

  async remove(realmId: RealmId, id: FileId, limit: number): Promise<number> {
    const terms = [...(this.unit.read('fileTerms').get(id) ?? [])];
    if (this.fileOf(id)?.realmId !== realmId) return 0;
    this.unit.change('fileTerms').set(id, new Set(terms.slice(limit)));
    return Math.min(limit, terms.length);
  }

  async finish(realmId: RealmId, id: FileId): Promise<void> {
    if (this.fileOf(id)?.realmId === realmId) this.unit.change('filesToRead').delete(id);
  }

  private fileOf(id: FileId): StoredFile | null {
    return this.unit.read('files').get(id)?.file ?? null;
  }
}
