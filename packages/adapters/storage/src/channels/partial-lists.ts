import type { ChannelId, RealmId, UserId } from '@parley/domain/kernel';
import { containing } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

/** Rows in which notable channels are searched. */
const NOTABLE_ROWS = 1000;

/** Reads a part of the channels of a large realm, at a cost independent of their number. */
export class PartialLists {
  private readonly recentlyActive;
  private readonly moreThan;
  private readonly namedLike;
  private readonly pinned;
  private readonly muted;
  private readonly newestActive;
  private readonly newestSubscribed;
  private readonly oldestSubscribed;

  constructor(statements: Statements) {
    const { indexedBy } = statements.dialect;
    this.recentlyActive = statements.values<ChannelId>(
      `SELECT id FROM channel ${indexedBy('channel_recently_active')}
       WHERE realm_id = ? AND is_recently_active = 1 AND id > ? ORDER BY id LIMIT ? + 0`,
    );
    this.moreThan = statements.values<1>('SELECT 1 FROM channel WHERE realm_id = ? LIMIT 1 OFFSET ? + 0');
    this.namedLike = statements.values<ChannelId>(
      `SELECT id FROM channel WHERE realm_id = ? AND name_key LIKE ? ESCAPE '\\' ORDER BY name_key LIMIT ? + 0`,
    );
    const notArchived = (ids: string, order = 'DESC') =>
      statements.values<ChannelId>(
        `SELECT c.id FROM (${ids} LIMIT ${NOTABLE_ROWS}) s JOIN channel c ON c.id = s.id
         WHERE c.is_archived = 0 ORDER BY c.id ${order} LIMIT ? + 0`,
      );
    const subscribed = (order: string) =>
      notArchived(
        `SELECT channel_id AS id FROM subscription
         WHERE user_id = ? AND +realm_id = ? AND is_active = 1 ORDER BY channel_id ${order}`,
        order,
      );
    this.pinned = notArchived(
      `SELECT channel_id AS id FROM subscription ${indexedBy('subscription_pinned')}
       WHERE user_id = ? AND +realm_id = ? AND is_active = 1 AND is_pinned = 1 ORDER BY channel_id DESC`,
    );
    this.muted = statements.values<ChannelId>(
      `SELECT channel_id FROM subscription ${indexedBy('subscription_muted')}
       WHERE user_id = ? AND +realm_id = ? AND is_active = 1 AND is_muted = 1 ORDER BY channel_id`,
    );
    this.newestActive = notArchived(
      `SELECT id FROM channel ${indexedBy('channel_recently_active')}
       WHERE realm_id = ? AND is_recently_active = 1 ORDER BY id DESC`,
    );
    this.newestSubscribed = subscribed('DESC');
    this.oldestSubscribed = subscribed('ASC');
  }

  async listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]> {
    return await this.recentlyActive.all(realmId, after ?? 0, limit);
  }

  async hasMoreThan(realmId: RealmId, count: number): Promise<boolean> {
    return (await this.moreThan.get(realmId, count)) !== undefined;
  }

  async listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly ChannelId[]> {
    return await this.namedLike.all(realmId, containing(text), limit);
  }

  async listMutedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    return await this.muted.all(userId, realmId);
  }

  async listNotableIds(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ChannelId[]> {
    return [
      ...(await this.pinned.all(userId, realmId, limit)),
      ...(await this.newestActive.all(realmId, limit)),
      ...(await this.newestSubscribed.all(userId, realmId, limit)),
      ...(await this.oldestSubscribed.all(userId, realmId, limit)),
    ];
  }
}
