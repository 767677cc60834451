import type { ChannelReads } from '@parley/domain/channels';
import type { ChannelId } from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';

/** Returns the method that finds channels to which all users of a set are subscribed. */
export function filterWithAll(statements: Statements): ChannelReads['filterWithAll'] {
  const { dialect } = statements;
  // The search for a missing user ends at the first one. A range makes SQLite use the index by channel, whose pages it
  // has just read.
  const withAll = (users: string) =>
    statements.values<ChannelId>(
      `WITH reader AS MATERIALIZED (${users})
       SELECT c.id FROM channel c
       WHERE c.id ${dialect.inSet} AND +c.realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM reader WHERE NOT EXISTS (
           SELECT 1 FROM subscription s
           WHERE s.channel_id = c.id AND s.user_id BETWEEN reader.id AND reader.id AND s.is_active = 1))
       ORDER BY c.id`,
    );
  const ofUsers = withAll(`SELECT value AS id FROM ${dialect.elements('bigint')}`);
  const ofSubscribers = withAll(
    'SELECT user_id AS id FROM subscription WHERE channel_id = ? AND user_id <> ? AND is_active = 1',
  );
  return async (realmId, channelIds, users) => {
    const channels = dialect.set(channelIds);
    if (!('subscribersOf' in users)) return await ofUsers.all(dialect.set(users), channels, realmId);
    return await ofSubscribers.all(users.subscribersOf, users.except, channels, realmId);
  };
}
