import { DEFAULT_CHANNEL_GROUP_ROWS, type DefaultChannelGroup } from '@parley/domain/channels';
import { Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';

export const DEFAULT_CHANNEL_GROUP_TABLE = new Table<DefaultChannelGroup>(DEFAULT_CHANNEL_GROUP_ROWS, {
  columns: { name: 'text', description: 'text', channelIds: 'ids' },
  indices: ['UNIQUE INDEX default_channel_group_by_name ON default_channel_group (realm_id, name_key)'],
});

export const DEFAULT_CHANNEL_FEATURE = {
  rows: { defaultChannelGroups: DEFAULT_CHANNEL_GROUP_TABLE },
} satisfies StorageFeature;
