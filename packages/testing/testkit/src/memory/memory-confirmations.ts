import {
  type Confirmation,
  type ConfirmationPurpose,
  type ConfirmationRepository,
  subjectOf,
} from '@parley/domain/access';
import type { RealmId } from '@parley/domain/kernel';
import { type MemoryUnit, newSeed } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly confirmations: Map<number, Confirmation>;
  }
}

export class MemoryConfirmations implements ConfirmationRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: number): Promise<Confirmation | null> {
    const confirmation = this.unit.read('confirmations').get(id);
    return confirmation?.realmId === realmId ? confirmation : null;
  }

  async findOpen(realmId: RealmId, purpose: ConfirmationPurpose, subject: string): Promise<Confirmation | null> {
    return (
      this.of(realmId, purpose).find(
        (confirmation) => confirmation.status === 'open' && subjectOf(confirmation) === subject,
      ) ?? null
    );
  }

  async count(realmId: RealmId, purpose: ConfirmationPurpose): Promise<number> {
    return this.of(realmId, purpose).length;
  }

  async add(confirmation: Omit<Confirmation, 'id' | 'seed'>): Promise<Confirmation> {
    const added = { ...confirmation, id: this.unit.nextNumber('confirmation'), seed: newSeed() };
    this.unit.change('confirmations').set(added.id, added);
    return added;
  }

  async update({ realmId, id, expiresAt, status }: Confirmation): Promise<void> {
    const before = await this.find(realmId, id);
    if (before) this.unit.change('confirmations').set(id, { ...before, expiresAt, status });
  }

  async remove(realmId: RealmId, id: number): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('confirmations').delete(id);
  }

  private of(realmId: RealmId, purpose: ConfirmationPurpose): Confirmation[] {
    return [...this.unit.read('confirmations').values()].filter(
      (confirmation) => confirmation.realmId === realmId && confirmation.purpose === purpose,
    );
  }
}
