import type { RealmId, SnippetId, UserId } from '@parley/domain/kernel';
import type { NewSnippet, Snippet, SnippetRepository } from '@parley/domain/messages';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly snippets: Map<SnippetId, Snippet>;
  }
}

export class MemorySnippets implements SnippetRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId, id: SnippetId): Promise<Snippet | null> {
    const snippet = this.unit.read('snippets').get(id);
    return snippet?.realmId === realmId && snippet.userId === userId ? snippet : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Snippet[]> {
    return this.of(realmId, userId)
      .sort((a, b) => a.id - b.id)
      .slice(0, limit);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).length;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  }

  async add(snippet: NewSnippet, reserved: SnippetId | null = null): Promise<Snippet> {
    const added: Snippet = { id: reserved ?? this.unit.nextNumber<SnippetId>('snippet'), ...snippet };
    this.unit.change('snippets').set(added.id, added);
    return added;
  }

  async update({ realmId, userId, id, title, content }: Snippet): Promise<void> {
    const snippet = await this.find(realmId, userId, id);
    if (snippet) this.unit.change('snippets').set(id, { ...snippet, title, content });
  }

  async remove(realmId: RealmId, userId: UserId, id: SnippetId): Promise<void> {
    if (await this.find(realmId, userId, id)) this.unit.change('snippets').delete(id);
  }

  private of(realmId: RealmId, userId: UserId): Snippet[] {
    return [...this.unit.read('snippets').values()].filter(
      (snippet) => snippet.realmId === realmId && snippet.userId === userId,
    );
  }
}
