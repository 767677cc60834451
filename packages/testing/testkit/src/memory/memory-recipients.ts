import type { MessageId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Recipient, RecipientRepository } from '@parley/domain/messages';
import { openSpans } from './personal-rows.js';
import { ascending, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly recipients: Map<RecipientId, Recipient>;
  }
}

export class MemoryRecipients implements RecipientRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>> {
    const found = [...this.unit.read('recipients').values()].filter(
      (recipient) => recipient.realmId === realmId && ids.includes(recipient.id),
    );
    return new Map(found.map((recipient) => [recipient.id, recipient]));
  }

  async findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null> {
    const people = peopleKey(userIds);
    return this.directOf(realmId).find((recipient) => peopleKey(recipient.userIds) === people)?.id ?? null;
  }

  async listDirectWith(
    realmId: RealmId,
    userId: UserId,
    otherId: UserId,
    atLeastUsers: number,
  ): Promise<readonly RecipientId[]> {
    return this.directOf(realmId)
      .filter(({ userIds }) => userIds.includes(userId) && userIds.includes(otherId) && userIds.length >= atLeastUsers)
      .map(({ id }) => id)
      .sort(ascending);
  }

  async listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]> {
    return this.directOf(realmId)
      .map(({ id }) => id)
      .filter((id) => id > after)
      .sort(ascending)
      .slice(0, limit);
  }

  async listRecentDirect(
    realmId: RealmId,
    userId: UserId,
    limit: number,
  ): Promise<readonly { readonly recipientId: RecipientId; readonly lastMessageId: number }[]> {
    const newest = new Map<RecipientId, MessageId>();
    for (const { id, recipientId } of this.unit.read('messages').values()) newest.set(recipientId, id);
    return this.directOf(realmId)
      .filter((recipient) => recipient.userIds.includes(userId) && newest.has(recipient.id))
      .map(({ id }) => ({ recipientId: id, lastMessageId: newest.get(id)! }))
      .sort((a, b) => b.lastMessageId - a.lastMessageId)
      .slice(0, limit);
  }

  async openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId> {
    const existing = await this.findDirect(realmId, userIds);
    if (existing !== null) return existing;
    const id = this.unit.nextNumber<RecipientId>('recipient');
    const people = sortedPeople(userIds);
    this.unit.change('recipients').set(id, { kind: 'direct', id, realmId, userIds: people });
    openSpans(this.unit, realmId, id, people);
    return id;
  }

  private directOf(realmId: RealmId): Extract<Recipient, { kind: 'direct' }>[] {
    return [...this.unit.read('recipients').values()].flatMap((recipient) =>
      recipient.kind === 'direct' && recipient.realmId === realmId ? [recipient] : [],
    );
  }
}

const sortedPeople = (userIds: readonly UserId[]): UserId[] => [...new Set(userIds)].sort(ascending);
const peopleKey = (userIds: readonly UserId[]): string => sortedPeople(userIds).join();
