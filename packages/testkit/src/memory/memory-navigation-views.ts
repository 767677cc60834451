import type { RealmId, UserId } from '@parley/domain/kernel';
import type { NavigationView, NavigationViewRepository } from '@parley/domain/messages';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Views by realm and user, oldest first. */
    readonly navigationViews: Map<string, readonly NavigationView[]>;
  }
}

export class MemoryNavigationViews implements NavigationViewRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, userId: UserId): Promise<readonly NavigationView[]> {
    return this.unit.read('navigationViews').get(keyOf(realmId, userId)) ?? [];
  }

  async put(realmId: RealmId, userId: UserId, view: NavigationView): Promise<void> {
    const views = await this.list(realmId, userId);
    const isThere = views.some(({ fragment }) => fragment === view.fragment);
    const changed = isThere ? views.map((each) => (each.fragment === view.fragment ? view : each)) : [...views, view];
    this.unit.change('navigationViews').set(keyOf(realmId, userId), changed);
  }

  async remove(realmId: RealmId, userId: UserId, fragment: string): Promise<void> {
    const views = await this.list(realmId, userId);
    this.unit.change('navigationViews').set(
      keyOf(realmId, userId),
      views.filter((view) => view.fragment !== fragment),
    );
  }
}
