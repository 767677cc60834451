import type { RealmId, UserId } from '@parley/domain/kernel';
import type { NavigationView, NavigationViewRepository } from '@parley/domain/messages';
import type { StorageFeature } from '../feature.js';
import { type Flag, toFlag } from '../rows.js';
import type { Statements } from '../statements.js';

interface NavigationViewRow {
  readonly fragment: string;
  readonly is_pinned: Flag;
  readonly name: string | null;
}

export class SqlNavigationViewRepository implements NavigationViewRepository {
  private readonly ofUser;
  private readonly upsert;
  private readonly delete;

  constructor(connection: Statements) {
    this.ofUser = connection.rows<NavigationViewRow>(
      'SELECT fragment, is_pinned, name FROM navigation_view WHERE user_id = ? AND realm_id = ? ORDER BY id',
    );
    this.upsert = connection.command(
      `INSERT INTO navigation_view (realm_id, user_id, fragment, is_pinned, name) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (user_id, fragment) DO UPDATE SET is_pinned = excluded.is_pinned, name = excluded.name`,
    );
    this.delete = connection.command('DELETE FROM navigation_view WHERE user_id = ? AND fragment = ? AND realm_id = ?');
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly NavigationView[]> {
    const rows = await this.ofUser.all(userId, realmId);
    return rows.map(({ fragment, is_pinned, name }) => ({ fragment, isPinned: is_pinned === 1, name }));
  }

  async put(realmId: RealmId, userId: UserId, { fragment, isPinned, name }: NavigationView): Promise<void> {
    this.upsert.defer(realmId, userId, fragment, toFlag(isPinned), name);
  }

  async remove(realmId: RealmId, userId: UserId, fragment: string): Promise<void> {
    this.delete.defer(userId, fragment, realmId);
  }
}

export const NAVIGATION_VIEW_FEATURE = {
  schema: 'navigation-views',
  realmTables: ['navigation_view'],
  repositories: () => (connection) => ({ navigationViews: new SqlNavigationViewRepository(connection) }),
} satisfies StorageFeature;
