import type { ChannelId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import {
  type BotOptions,
  type BotRepository,
  NO_BOT_OPTIONS,
  type OutgoingWebhook,
  WEBHOOK_INTERFACES,
  type WebhookInterface,
} from '@parley/domain/membership';
import type { BotTrigger, BotTriggerRepository, TriggeredBot } from '@parley/domain/writing';
import type { StorageFeature } from '../engine/feature.js';
import { OF_REALM } from '../engine/personal-data.js';
import { type Flag, toFlag } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';
import { SqlBotStorageRepository } from './bot-storage.js';

export class SqlBotRepository implements BotRepository {
  private readonly rows;
  private readonly ownedIds;
  private readonly upsert;

  constructor(private readonly connection: Statements) {
    this.rows = connection.rows<BotOptionRow>(
      `SELECT * FROM bot_option WHERE bot_id ${connection.dialect.inSet} AND +realm_id = ?`,
    );
    this.ownedIds = connection.values<UserId>(
      'SELECT id FROM "user" WHERE realm_id = ? AND bot_owner_id = ? ORDER BY id',
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
    const rows = await this.rows.all(this.connection.dialect.set(botIds), realmId);
    for (const row of rows) options.set(row.bot_id, toOptions(row));
    return options;
  }

  async listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]> {
    return this.ownedIds.all(realmId, ownerId);
  }

  async putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void> {
    const { eventsChannelId, allPublicChannels, webhook } = options;
    this.upsert.defer(
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

/** Replaces an unknown interface by the default. */
function toWebhook({
  webhook_url: url,
  webhook_interface,
  webhook_token: token,
}: BotOptionRow): OutgoingWebhook | null {
  if (url === null || token === null) return null;
  const known = WEBHOOK_INTERFACES.includes(webhook_interface as WebhookInterface);
  return { url, interface: known ? (webhook_interface as WebhookInterface) : 'generic', token };
}

const OWN = 'bot_id = ? AND realm_id = ?';

export class SqlBotTriggerRepository implements BotTriggerRepository {
  private readonly first;
  private readonly counted;
  private readonly insert;
  private readonly delete;

  constructor(connection: Statements) {
    this.first = connection.rows<TriggerRow>(
      `SELECT message_id, trigger FROM bot_trigger WHERE ${OWN} ORDER BY message_id LIMIT 1`,
    );
    this.counted = connection.values<number>(`SELECT count(*) FROM bot_trigger WHERE ${OWN}`);
    this.insert = connection.command(
      `INSERT INTO bot_trigger (bot_id, message_id, realm_id, trigger) VALUES (?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
    this.delete = connection.command(`DELETE FROM bot_trigger WHERE ${OWN} AND message_id = ?`);
  }

  async findFirst(realmId: RealmId, botId: UserId): Promise<TriggeredBot | null> {
    const row = await this.first.get(botId, realmId);
    return row ? { botId, messageId: row.message_id, trigger: row.trigger } : null;
  }

  async count(realmId: RealmId, botId: UserId): Promise<number> {
    return await this.counted.one(botId, realmId);
  }

  async add(realmId: RealmId, { botId, messageId, trigger }: TriggeredBot): Promise<void> {
    this.insert.defer(botId, messageId, realmId, trigger);
  }

  async remove(realmId: RealmId, botId: UserId, messageId: MessageId): Promise<void> {
    this.delete.defer(botId, realmId, messageId);
  }
}

interface TriggerRow {
  readonly message_id: MessageId;
  readonly trigger: BotTrigger;
}

const TABLES = `
-- Key-value storage of bots.

CREATE TABLE bot_storage_entry (
  id {rowId},
  bot_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  key {TEXT|bytea} NOT NULL,
  value {TEXT|bytea} NOT NULL,
  -- Size of key and value in code points.
  size {int} NOT NULL
) {strict};
CREATE UNIQUE INDEX bot_storage_by_key ON bot_storage_entry (bot_id, key);

-- Total size per bot, so that storing an entry has constant cost.
CREATE TABLE bot_storage_usage (
  bot_id {int} PRIMARY KEY,
  realm_id {int} NOT NULL,
  size {int} NOT NULL,
  keys {int} NOT NULL
) {strict};

-- Options that only bots have. Bots that never had any have no row.
CREATE TABLE bot_option (
  bot_id {int} PRIMARY KEY,
  realm_id {int} NOT NULL,
  events_channel_id {int},
  all_public_channels {flag} NOT NULL,
  -- Outgoing webhook; set together or not at all.
  webhook_url {text},
  webhook_interface {text},
  webhook_token {text}
) {strict};
`;

const TRIGGER_TABLE = `
-- Messages that wait for delivery to the URL of an outgoing webhook.

CREATE TABLE bot_trigger (
  bot_id {int} NOT NULL REFERENCES {user} (id),
  message_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  trigger {text} NOT NULL,
  PRIMARY KEY (bot_id, message_id)
) {withoutRowId};
`;

const BOTS_STAY = 'Bots belong to the organization. They are deactivated with their owner.';

export const BOT_FEATURE = {
  schema: 'bots',
  steps: { 1: TABLES, 3: TRIGGER_TABLE },
  realmTables: ['bot_option', 'bot_trigger', 'bot_storage_entry', 'bot_storage_usage'],
  persons: {
    bot_option: {
      data: 'Settings of bots',
      fate: OF_REALM,
      keep: { [BOTS_STAY]: ['bot_id', 'webhook_url', 'webhook_interface', 'webhook_token'] },
    },
    bot_trigger: {
      data: 'Messages that bots wait to process',
      fate: OF_REALM,
      keep: { [BOTS_STAY]: ['bot_id'] },
      other: ['trigger'],
    },
    bot_storage_entry: {
      data: 'Data that bots store',
      fate: OF_REALM,
      keep: { [BOTS_STAY]: ['bot_id', 'key', 'value'] },
    },
    bot_storage_usage: { data: 'Size of the data that bots store', fate: OF_REALM, keep: { [BOTS_STAY]: ['bot_id'] } },
  },
  notExported: {
    bot_trigger: 'The original server delivers queued messages.',
    bot_storage_usage: 'Sums are computed from the entries.',
  },
  repositories: () => (connection) => ({
    bots: new SqlBotRepository(connection),
    botTriggers: new SqlBotTriggerRepository(connection),
    botStorage: new SqlBotStorageRepository(connection),
  }),
} satisfies StorageFeature;
