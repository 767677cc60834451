import type { DraftId, RealmId, UserId } from '@parley/domain/kernel';
import type { Draft, DraftRepository, NewDraft } from '@parley/domain/messages';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly drafts: Map<DraftId, Draft>;
  }
}

export class MemoryDrafts implements DraftRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId, id: DraftId): Promise<Draft | null> {
    const draft = this.unit.read('drafts').get(id);
    return draft?.realmId === realmId && draft.userId === userId ? draft : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Draft[]> {
    return this.of(realmId, userId)
      .sort((a, b) => b.editedAt - a.editedAt || b.id - a.id)
      .slice(0, limit);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).length;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  }

  async add(draft: NewDraft, reserved: DraftId | null = null): Promise<Draft> {
    const added: Draft = { id: reserved ?? this.unit.nextNumber<DraftId>('draft'), ...draft };
    this.unit.change('drafts').set(added.id, added);
    return added;
  }

  async update(draft: Draft): Promise<void> {
    const { realmId, userId, id } = draft;
    if (await this.find(realmId, userId, id)) this.unit.change('drafts').set(id, draft);
  }

  async remove(realmId: RealmId, userId: UserId, id: DraftId): Promise<void> {
    if (await this.find(realmId, userId, id)) this.unit.change('drafts').delete(id);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    for (const { id } of this.of(realmId, userId)) this.unit.change('drafts').delete(id);
  }

  private of(realmId: RealmId, userId: UserId): Draft[] {
    return [...this.unit.read('drafts').values()].filter(
      (draft) => draft.realmId === realmId && draft.userId === userId,
    );
  }
}
