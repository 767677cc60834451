import { type TopicPolicy, type TopicPolicyRepository, type TopicVisibility, topicKey } from '@parley/domain/channels';
import type { ChannelId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { jsonList } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { ColumnReader } from '../engine/rows.js';

export class SqliteTopicPolicyRepository implements TopicPolicyRepository {
  private readonly visibility;
  private readonly row;
  private readonly total;
  private readonly mutedRowsOfUser;
  private readonly rowsOfTopic;
  private readonly columnsOfUser;
  private readonly rowsOfEverybody;
  private readonly upsert;
  private readonly delete;

  constructor(connection: Connection) {
    // Usually called for the sender alone.
    this.visibility = connection.values<TopicVisibility>(
      'SELECT visibility FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ? AND realm_id = ?',
    );
    this.row = connection.rows<TopicPolicyRow>(
      'SELECT * FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ? AND realm_id = ?',
    );
    this.total = connection.values<number>('SELECT count(*) FROM topic_policy WHERE user_id = ? AND realm_id = ?');
    this.mutedRowsOfUser = connection.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy INDEXED BY topic_policy_muted
       WHERE user_id = ? AND realm_id = ? AND visibility = 'muted' ORDER BY channel_id, topic_key`,
    );
    this.rowsOfTopic = connection.rows<Pick<TopicPolicyRow, 'user_id' | 'visibility'>>(
      `SELECT user_id, visibility FROM topic_policy
       WHERE user_id IN (SELECT value FROM json_each(?)) AND channel_id = ? AND topic_key = ? AND realm_id = ?`,
    );
    this.columnsOfUser = connection.tuples<string[]>(OF_USER.sql);
    this.rowsOfEverybody = connection.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy INDEXED BY topic_policy_by_topic
       WHERE channel_id = ? AND topic_key = ? AND user_id > ? AND realm_id = ? ORDER BY user_id ${LIMIT}`,
    );
    this.upsert = connection.command(
      `INSERT INTO topic_policy (user_id, channel_id, topic_key, realm_id, topic, visibility, changed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET visibility = excluded.visibility, changed_at = excluded.changed_at`,
    );
    this.delete = connection.command('DELETE FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ?');
  }

  async listOf(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, TopicVisibility>> {
    const [userId] = userIds;
    if (userId === undefined) return new Map();
    if (userIds.length === 1) {
      const visibility = this.visibility.get(userId, channelId, key, realmId);
      return new Map(visibility === undefined ? [] : [[userId, visibility]]);
    }
    const rows = this.rowsOfTopic.all(jsonList(userIds), channelId, key, realmId);
    return new Map(rows.map((row) => [row.user_id, row.visibility]));
  }

  async find(realmId: RealmId, userId: UserId, channelId: ChannelId, key: string): Promise<TopicPolicy | null> {
    const row = this.row.get(userId, channelId, key, realmId);
    return row ? toTopicPolicy(row) : null;
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.total.get(userId, realmId)!;
  }

  async listMuted(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    return this.mutedRowsOfUser.all(userId, realmId).map(toTopicPolicy);
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    const columns = OF_USER.parse(this.columnsOfUser.get(userId, realmId)!);
    return columns.channel_id.map((channelId, n) => ({
      realmId,
      userId,
      channelId,
      topic: columns.topic[n]!,
      visibility: columns.visibility[n]!,
      changedAt: columns.changed_at[n]!,
    }));
  }

  async listOfTopic(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    after: number,
    limit: number,
  ): Promise<readonly TopicPolicy[]> {
    return this.rowsOfEverybody.all(channelId, key, after, realmId, limit).map(toTopicPolicy);
  }

  async put({ realmId, userId, channelId, topic, visibility, changedAt }: TopicPolicy): Promise<void> {
    const key = topicKey(topic);
    if (visibility === 'inherit') this.delete.run(userId, channelId, key);
    else this.upsert.run(userId, channelId, key, realmId, topic, visibility, changedAt);
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

const OF_USER = new ColumnReader<Pick<TopicPolicyRow, 'channel_id' | 'topic' | 'visibility' | 'changed_at'>>(
  ['channel_id', 'topic', 'visibility', 'changed_at'],
  '(SELECT * FROM topic_policy WHERE user_id = ? AND realm_id = ? ORDER BY channel_id, topic_key)',
);

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
  repositories: () => (connection) => ({ topicPolicies: new SqliteTopicPolicyRepository(connection) }),
} satisfies SqliteFeature;
