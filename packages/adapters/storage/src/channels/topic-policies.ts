import { type TopicPolicy, type TopicPolicyRepository, type TopicVisibility, topicKey } from '@parley/domain/channels';
import type { ChannelId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { ColumnQuery } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

/** Largest number that both databases accept as a limit. */
const NO_LIMIT = 2 ** 31 - 1;

export class SqlTopicPolicyRepository implements TopicPolicyRepository {
  private readonly visibility;
  private readonly row;
  private readonly total;
  private readonly mutedRowsOfUser;
  private readonly rowsOfTopic;
  private readonly rowsOfUser;
  private readonly rowsOfEverybody;
  private readonly upsert;
  private readonly delete;

  constructor(private readonly statements: Statements) {
    const { inSet, indexedBy } = statements.dialect;
    // Usually called for the sender alone.
    this.visibility = statements.values<TopicVisibility>(
      'SELECT visibility FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ? AND realm_id = ?',
    );
    this.row = statements.rows<TopicPolicyRow>(
      'SELECT * FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ? AND realm_id = ?',
    );
    this.total = statements.values<number>('SELECT count(*) FROM topic_policy WHERE user_id = ? AND realm_id = ?');
    this.mutedRowsOfUser = statements.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy ${indexedBy('topic_policy_muted')}
       WHERE user_id = ? AND realm_id = ? AND visibility = 'muted' ORDER BY channel_id, topic_key LIMIT ? + 0`,
    );
    this.rowsOfTopic = statements.rows<Pick<TopicPolicyRow, 'user_id' | 'visibility'>>(
      `SELECT user_id, visibility FROM topic_policy
       WHERE user_id ${inSet} AND channel_id = ? AND topic_key = ? AND realm_id = ?`,
    );
    this.rowsOfUser = new ColumnQuery<Pick<TopicPolicyRow, 'channel_id' | 'topic' | 'visibility' | 'changed_at'>>(
      statements,
      ['channel_id', 'topic', 'visibility', 'changed_at'],
      'SELECT * FROM topic_policy WHERE user_id = ? AND realm_id = ? ORDER BY channel_id, topic_key',
    );
    this.rowsOfEverybody = statements.rows<TopicPolicyRow>(
      `SELECT * FROM topic_policy ${indexedBy('topic_policy_by_topic')}
       WHERE channel_id = ? AND topic_key = ? AND user_id > ? AND realm_id = ? ORDER BY user_id LIMIT ? + 0`,
    );
    this.upsert = statements.command(
      `INSERT INTO topic_policy (user_id, channel_id, topic_key, realm_id, topic, visibility, changed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id, channel_id, topic_key) DO UPDATE
       SET visibility = excluded.visibility, changed_at = excluded.changed_at`,
    );
    this.delete = statements.command('DELETE FROM topic_policy WHERE user_id = ? AND channel_id = ? AND topic_key = ?');
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
      const visibility = await this.visibility.get(userId, channelId, key, realmId);
      return new Map(visibility === undefined ? [] : [[userId, visibility]]);
    }
    const rows = await this.rowsOfTopic.all(this.statements.dialect.set(userIds), channelId, key, realmId);
    return new Map(rows.map((row) => [row.user_id, row.visibility]));
  }

  async find(realmId: RealmId, userId: UserId, channelId: ChannelId, key: string): Promise<TopicPolicy | null> {
    const row = await this.row.get(userId, channelId, key, realmId);
    return row ? toTopicPolicy(row) : null;
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return await this.total.one(userId, realmId);
  }

  async listMuted(realmId: RealmId, userId: UserId, limit = NO_LIMIT): Promise<readonly TopicPolicy[]> {
    return (await this.mutedRowsOfUser.all(userId, realmId, limit)).map(toTopicPolicy);
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    const { channel_id, topic, visibility, changed_at } = await this.rowsOfUser.columns(userId, realmId);
    return channel_id.map((channelId, n) => ({
      realmId,
      userId,
      channelId,
      topic: topic[n]!,
      visibility: visibility[n]!,
      changedAt: changed_at[n]!,
    }));
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
