import { type TopicPolicy, type TopicPolicyRepository, type TopicVisibility, topicKey } from '@parley/domain/channels';
import type { ChannelId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresTopicPolicyRepository implements TopicPolicyRepository {
  private readonly row;
  private readonly total;
  private readonly mutedRowsOfUser;
  private readonly rowsOfTopic;
  private readonly rowsOfUser;
  private readonly rowsOfEverybody;
  private readonly upsert;
  private readonly delete;

  constructor(private readonly connection: Connection) {
    this.row = connection.rows<TopicPolicyRow>(
      'SELECT * FROM topic_policy WHERE user_id = $1 AND channel_id = $2 AND topic_key = $3 AND realm_id = $4',
    );
    this.total = connection.values<number>('SELECT count(*) FROM topic_policy WHERE user_id = $1 AND realm_id = $2');
    this.mutedRowsOfUser = connection.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy
       WHERE user_id = $1 AND realm_id = $2 AND visibility = 'muted' ORDER BY channel_id, topic_key`,
    );
    this.rowsOfTopic = connection.rows<Pick<TopicPolicyRow, 'user_id' | 'visibility'>>(
      `SELECT user_id, visibility FROM topic_policy
       WHERE user_id = ANY($1::bigint[]) AND channel_id = $2 AND topic_key = $3 AND realm_id = $4`,
    );
    this.rowsOfUser = connection.rows<TopicPolicyRow>(
      'SELECT * FROM topic_policy WHERE user_id = $1 AND realm_id = $2 ORDER BY channel_id, topic_key',
    );
    this.rowsOfEverybody = connection.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy
       WHERE channel_id = $1 AND topic_key = $2 AND user_id > $3 AND realm_id = $4 ORDER BY user_id LIMIT $5`,
    );
    this.upsert = connection.command(
      `INSERT INTO topic_policy (user_id, channel_id, topic_key, realm_id, topic, visibility, changed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (user_id, channel_id, topic_key) DO UPDATE SET visibility = excluded.visibility, changed_at = excluded.changed_at`,
    );
    this.delete = connection.command(
      'DELETE FROM topic_policy WHERE user_id = $1 AND channel_id = $2 AND topic_key = $3',
    );
  }

  async listOf(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, TopicVisibility>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.rowsOfTopic.all(userIds, channelId, key, realmId);
    return new Map(rows.map((row) => [row.user_id, row.visibility]));
  }

  async find(realmId: RealmId, userId: UserId, channelId: ChannelId, key: string): Promise<TopicPolicy | null> {
    const row = await this.row.get(userId, channelId, key, realmId);
    return row ? toTopicPolicy(row) : null;
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.total.get(userId, realmId))!;
  }

  async listMuted(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    return (await this.mutedRowsOfUser.all(userId, realmId)).map(toTopicPolicy);
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    return (await this.rowsOfUser.all(userId, realmId)).map(toTopicPolicy);
  }

  async listOfTopic(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    after: number,
    limit: number,
  ): Promise<readonly TopicPolicy[]> {
    return (await this.rowsOfEverybody.all(channelId, key, after, realmId, limit)).map(toTopicPolicy);
  }

  async put({ realmId, userId, channelId, topic, visibility, changedAt }: TopicPolicy): Promise<void> {
    if (userId !== this.connection.sharing?.userId) this.connection.requireAlone();
    const key = topicKey(topic);
    if (visibility === 'inherit') this.delete.defer(userId, channelId, key);
    else this.upsert.defer(userId, channelId, key, realmId, topic, visibility, changedAt);
  }
}

interface TopicPolicyRow {
  readonly user_id: UserId;
  readonly channel_id: ChannelId;
  readonly realm_id: RealmId;
  readonly topic: string;
  readonly visibility: TopicVisibility;
  readonly changed_at: UnixSeconds;
}

function toTopicPolicy(row: TopicPolicyRow): TopicPolicy {
  return {
    realmId: row.realm_id,
    userId: row.user_id,
    channelId: row.channel_id,
    topic: row.topic,
    visibility: row.visibility,
    changedAt: row.changed_at,
  };
}

export const TOPIC_POLICY_FEATURE = {
  repositories: () => (connection) => ({ topicPolicies: new PostgresTopicPolicyRepository(connection) }),
} satisfies PostgresFeature;
