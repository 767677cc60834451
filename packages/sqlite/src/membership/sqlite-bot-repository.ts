import type { ChannelId, RealmId, UserId } from '@parley/domain/kernel';
import {
  type BotOptions,
  type BotRepository,
  NO_BOT_OPTIONS,
  type OutgoingWebhook,
  WEBHOOK_INTERFACES,
  type WebhookInterface,
} from '@parley/domain/membership';
import type { Connection } from '../engine/connection.js';
import { type Flag, jsonList, toFlag } from '../engine/rows.js';

export class SqliteBotRepository implements BotRepository {
  private readonly rows;
  private readonly ownedIds;
  private readonly upsert;

  constructor(connection: Connection) {
    this.rows = connection.rows<BotOptionRow>(
      'SELECT * FROM bot_option WHERE bot_id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
    );
    this.ownedIds = connection.values<UserId>(
      'SELECT id FROM user WHERE realm_id = ? AND bot_owner_id = ? ORDER BY id',
    );
    this.upsert = connection.command(
      `INSERT INTO bot_option (bot_id, realm_id, events_channel_id, all_public_channels, webhook_url, webhook_interface,
                               webhook_token)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (bot_id) DO UPDATE
       SET events_channel_id = excluded.events_channel_id, all_public_channels = excluded.all_public_channels,
           webhook_url = excluded.webhook_url, webhook_interface = excluded.webhook_interface,
           webhook_token = excluded.webhook_token`,
    );
  }

  async listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>> {
    const options = new Map<UserId, BotOptions>(botIds.map((id) => [id, NO_BOT_OPTIONS]));
    for (const row of this.rows.all(jsonList(botIds), realmId)) options.set(row.bot_id, toOptions(row));
    return options;
  }

  async listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]> {
    return this.ownedIds.all(realmId, ownerId);
  }

  async putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void> {
    const { eventsChannelId, allPublicChannels, webhook } = options;
    this.upsert.run(
      botId,
      realmId,
      eventsChannelId,
      toFlag(allPublicChannels),
      webhook?.url ?? null,
      webhook?.interface ?? null,
      webhook?.token ?? null,
    );
  }
}

interface BotOptionRow {
  readonly bot_id: UserId;
  readonly events_channel_id: ChannelId | null;
  readonly all_public_channels: Flag;
  readonly webhook_url: string | null;
  readonly webhook_interface: string | null;
  readonly webhook_token: string | null;
}

const toOptions = (row: BotOptionRow): BotOptions => ({
  eventsChannelId: row.events_channel_id,
  allPublicChannels: row.all_public_channels === 1,
  webhook: toWebhook(row),
});

/** An interface that means nothing counts as the usual one. */
function toWebhook({
  webhook_url: url,
  webhook_interface,
  webhook_token: token,
}: BotOptionRow): OutgoingWebhook | null {
  if (url === null || token === null) return null;
  const known = WEBHOOK_INTERFACES.includes(webhook_interface as WebhookInterface);
  return { url, interface: known ? (webhook_interface as WebhookInterface) : 'generic', token };
}
