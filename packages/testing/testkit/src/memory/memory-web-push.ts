import type { RealmId, UserId } from '@parley/domain/kernel';
import type { WebPushRepository, WebPushSubscription } from '@parley/domain/push';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Subscriptions by `keyOf(user, endpoint)`. */
    readonly webPush: Map<string, WebPushSubscription>;
  }
}

export class MemoryWebPush implements WebPushRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly WebPushSubscription[]> {
    return [...this.unit.read('webPush').values()]
      .filter((it) => it.realmId === realmId && userIds.includes(it.userId))
      .filter(({ sessionId }) => sessionId === null || this.unit.read('sessions').has(sessionId))
      .sort((a, b) => a.id - b.id);
  }

  async put(subscription: Omit<WebPushSubscription, 'id'>): Promise<void> {
    const key = keyOf(subscription.userId, subscription.endpoint);
    const id = this.unit.read('webPush').get(key)?.id ?? this.unit.nextNumber('webPush');
    this.unit.change('webPush').set(key, { ...subscription, id });
  }

  async remove(realmId: RealmId, userId: UserId, endpoint: string): Promise<boolean> {
    const key = keyOf(userId, endpoint);
    if (this.unit.read('webPush').get(key)?.realmId !== realmId) return false;
    return this.unit.change('webPush').delete(key);
  }
}
