import type { ChannelRow, SubscriptionRow } from '@parley/storage';
import { ColumnReader } from '../engine/rows.js';

const rows = (where: string) =>
  new ColumnReader<ChannelRow>(
    [
      'id',
      'version',
      'recipient_id',
      'name',
      'description',
      'rendered_description',
      'privacy',
      'is_archived',
      'creator_id',
      'created_at',
      'message_retention_days',
      'topics_policy',
      'folder_id',
      'is_default',
      'is_recently_active',
      'first_message_id',
      'permissions',
    ],
    `(SELECT * FROM channel WHERE ${where})`,
  );
export const ROWS = rows('+realm_id = ? AND id IN (SELECT value FROM json_each(?))');
export const ROWS_BY_NAME = rows('realm_id = ? AND name_key IN (SELECT value FROM json_each(?)) ORDER BY id');

const versions = (where: string) =>
  new ColumnReader<Pick<ChannelRow, 'id' | 'version'>>(
    ['id', 'version'],
    `(SELECT id, version FROM channel WHERE ${where} ORDER BY id)`,
  );
export const VERSIONS = versions('+realm_id = ? AND id IN (SELECT value FROM json_each(?))');
export const ALL_VERSIONS = versions('realm_id = ?');

export interface ViewHead extends Pick<ChannelRow, 'id' | 'version'> {
  readonly subscriber_count: number;
}
/** Sorts correctly, because SQLite compares bytes and UTF-8 preserves code point order. */
const viewHeads = (where: string) =>
  new ColumnReader<ViewHead>(
    ['id', 'version', 'subscriber_count'],
    `(SELECT id, version, subscriber_count FROM channel WHERE ${where} ORDER BY name)`,
  );
export const VIEW_HEADS = viewHeads('+realm_id = ? AND id IN (SELECT value FROM json_each(?))');
export const ALL_VIEW_HEADS = viewHeads('realm_id = ?');

export const SUBSCRIPTIONS = new ColumnReader<SubscriptionRow>(
  [
    'user_id',
    'channel_id',
    'realm_id',
    'is_active',
    'color',
    'is_muted',
    'is_pinned',
    'desktop_notifications',
    'audible_notifications',
    'push_notifications',
    'email_notifications',
    'wildcard_mentions_notify',
  ],
  '(SELECT * FROM subscription WHERE user_id = ? AND realm_id = ? ORDER BY channel_id)',
);
