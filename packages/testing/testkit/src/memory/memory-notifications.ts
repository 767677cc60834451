import { topicKey } from '@parley/domain/channels';
import type { ChannelId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { NotificationRepository, PushedMessage } from '@parley/domain/push';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Marks by `keyOf(user, message)`. */
    readonly pushedMessages: Map<string, PushedMessage & { readonly realmId: RealmId }>;
  }
}

export class MemoryNotifications implements NotificationRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listNotifiable(realmId: RealmId, channelId: ChannelId, key: string): Promise<readonly UserId[]> {
    const followers = new Set(
      [...this.unit.read('topicPolicies').values()]
        .filter((it) => it.channelId === channelId && topicKey(it.topic) === key && it.visibility === 'followed')
        .map(({ userId }) => userId),
    );
    const rows = [...this.unit.read('subscriptions').values()].flatMap((channels) => channels.get(channelId) ?? []);
    const notifiable = rows.filter((row) => {
      if (row.realmId !== realmId || !row.isActive) return false;
      const { settings, bot } = this.unit.read('users').get(row.userId)!.user;
      const isGeneral = settings.enableChannelPushNotifications || settings.enableChannelEmailNotifications;
      const { push, email } = row.notifications;
      return push || email || (isGeneral && !bot) || followers.has(row.userId);
    });
    return notifiable.map(({ userId }) => userId).sort(ascending);
  }

  async listPushed(
    realmId: RealmId,
    userId: UserId,
    among: readonly MessageId[] | null,
  ): Promise<readonly MessageId[]> {
    return this.rows(realmId)
      .filter((row) => row.userId === userId && (among?.includes(row.messageId) ?? true))
      .map(({ messageId }) => messageId)
      .sort((a, b) => b - a);
  }

  async listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]> {
    return this.rows(realmId)
      .filter(({ messageId }) => messageIds.includes(messageId))
      .map(({ userId, messageId }) => ({ userId, messageId }))
      .sort((a, b) => a.userId - b.userId || a.messageId - b.messageId);
  }

  async addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const added = userIds.filter((userId) => !this.unit.read('pushedMessages').has(keyOf(userId, messageId)));
    for (const userId of added) {
      this.unit.change('pushedMessages').set(keyOf(userId, messageId), { realmId, userId, messageId });
    }
    return added;
  }

  async removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const row of this.rows(realmId)) {
      if (row.userId !== userId || !messageIds.includes(row.messageId)) continue;
      this.unit.change('pushedMessages').delete(keyOf(userId, row.messageId));
    }
  }

  private rows(realmId: RealmId) {
    return [...this.unit.read('pushedMessages').values()].filter((row) => row.realmId === realmId);
  }
}
