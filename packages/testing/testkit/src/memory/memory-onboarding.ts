import type { RealmId, UserId } from '@parley/domain/kernel';
import type { OnboardingMark, OnboardingRepository } from '@parley/domain/users';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Shown steps by realm and user. */
    readonly onboarding: Map<string, ReadonlySet<string>>;
  }
}

export class MemoryOnboarding implements OnboardingRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listDone(realmId: RealmId, userId: UserId): Promise<ReadonlySet<string>> {
    return this.unit.read('onboarding').get(keyOf(realmId, userId)) ?? new Set();
  }

  async markDone(realmId: RealmId, userId: UserId, step: OnboardingMark): Promise<void> {
    const done = await this.listDone(realmId, userId);
    this.unit.change('onboarding').set(keyOf(realmId, userId), new Set([...done, step]));
  }
}
