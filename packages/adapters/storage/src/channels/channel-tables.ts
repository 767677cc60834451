import type { FeatureTables } from '../engine/feature.js';
import { KEY, OF_ACCOUNT, OF_REALM, WRITTEN } from '../engine/personal-data.js';
import { CHANNEL_FOLDER_TABLE } from './channel-folders.js';
import { DEFAULT_CHANNEL_GROUP_TABLE } from './default-channels.js';

const TABLES = `
-- Channels and their subscribers.

CREATE TABLE channel (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  version {int} NOT NULL,
  -- Number of active subscribers, maintained by triggers or repositories because counting is linear.
  subscriber_count {int} NOT NULL DEFAULT 0,
  recipient_id {int} NOT NULL,
  name {text} NOT NULL,
  -- Case-folded.
  name_key {text} NOT NULL,
  description {text} NOT NULL,
  rendered_description {text} NOT NULL,
  privacy {text} NOT NULL,
  is_archived {flag} NOT NULL,
  creator_id {int},
  created_at {int} NOT NULL,
  -- Null for the default of the realm; -1 for no limit.
  message_retention_days {int},
  topics_policy {text} NOT NULL,
  folder_id {int},
  is_default {flag} NOT NULL,
  is_recently_active {flag} NOT NULL,
  first_message_id {int},
  -- JSON: a group id for each permission.
  permissions {text} NOT NULL
) {strict};
CREATE UNIQUE INDEX channel_by_name ON channel (realm_id, name_key);

CREATE INDEX channel_by_folder ON channel (folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX channel_recently_active ON channel (realm_id, id) WHERE is_recently_active = 1;

${CHANNEL_FOLDER_TABLE.sql}

${DEFAULT_CHANNEL_GROUP_TABLE.sql}

CREATE TABLE channel_address (
  channel_id {int} NOT NULL REFERENCES channel (id),
  -- Requesting user and sender of incoming email.
  creator_id {int} NOT NULL REFERENCES {user} (id),
  sender_id {int} NOT NULL REFERENCES {user} (id),
  realm_id {int} NOT NULL,
  token {text} NOT NULL,
  PRIMARY KEY (channel_id, creator_id, sender_id)
) {withoutRowId};
CREATE UNIQUE INDEX channel_address_by_token ON channel_address (token);

CREATE TABLE subscription (
  user_id {int} NOT NULL REFERENCES {user} (id),
  channel_id {int} NOT NULL REFERENCES channel (id),
  realm_id {int} NOT NULL,
  is_active {flag} NOT NULL,
  color {text} NOT NULL,
  is_muted {flag} NOT NULL,
  is_pinned {flag} NOT NULL,
  desktop_notifications {flag},
  audible_notifications {flag},
  push_notifications {flag},
  email_notifications {flag},
  wildcard_mentions_notify {flag},
  PRIMARY KEY (user_id, channel_id)
) {withoutRowId};
CREATE INDEX subscription_by_channel ON subscription (channel_id, user_id) WHERE is_active = 1;

CREATE TABLE topic_policy (
  user_id {int} NOT NULL REFERENCES {user} (id),
  channel_id {int} NOT NULL REFERENCES channel (id),
  -- Case-folded.
  topic_key {text} NOT NULL,
  realm_id {int} NOT NULL,
  topic {text} NOT NULL,
  visibility {text} NOT NULL,
  changed_at {int} NOT NULL,
  PRIMARY KEY (user_id, channel_id, topic_key)
) {withoutRowId};
-- Policies of a topic that is moved or deleted.
CREATE INDEX topic_policy_by_topic ON topic_policy (channel_id, topic_key);
-- Lists all muted topics for the events of older clients.
CREATE INDEX topic_policy_muted ON topic_policy (user_id, channel_id, topic_key) WHERE visibility = 'muted';
`;

const DEFAULT_CHANNELS = `
-- expand: new people find the default channels without reading all channels.
CREATE INDEX channel_default ON channel (realm_id, id) WHERE is_default = 1 AND is_archived = 0;
`;

const WEB_PUBLIC_CHANNELS = `
-- expand: guests and anonymous callers find their channels without reading all channels.
CREATE INDEX channel_web_public ON channel (realm_id, id) WHERE privacy = 'webPublic';
`;

const PINNED_CHANNELS = `
-- expand: clients with a partial state get the pinned channels without reading all subscriptions.
CREATE INDEX subscription_pinned ON subscription (user_id, channel_id) WHERE is_pinned = 1;
`;

const MUTED_CHANNELS = `
-- expand: finds the muted channels of a user without reading all subscriptions.
CREATE INDEX subscription_muted ON subscription (user_id, channel_id) WHERE is_muted = 1;
`;

/** Channel tables in both databases. */
export const CHANNEL_TABLES = {
  schema: 'channels',
  steps: { 1: TABLES, 42: DEFAULT_CHANNELS, 58: WEB_PUBLIC_CHANNELS, 61: PINNED_CHANNELS, 64: MUTED_CHANNELS },
  realmTables: [
    'topic_policy',
    'subscription',
    'channel_address',
    'channel',
    'channel_folder',
    'default_channel_group',
  ],
  persons: {
    topic_policy: { data: 'Topics that a person follows or mutes', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
    subscription: {
      data: 'Subscriptions',
      fate: WRITTEN,
      keep: { 'Ids without text.': ['user_id'] },
      other: ['color'],
    },
    channel_address: {
      data: 'Email addresses of channels',
      fate: { ...KEY, stays: 'addresses that send as a bot; others are refused while the account is deactivated' },
      keep: { 'Ids without text.': ['creator_id', 'sender_id'] },
      other: ['token'],
    },
    channel: {
      data: 'Channels',
      fate: OF_REALM,
      keep: { 'Ids without text.': ['creator_id'] },
      anonymise: ['description', 'rendered_description'],
      other: ['name', 'name_key', 'privacy', 'topics_policy', 'permissions'],
    },
    channel_folder: {
      data: 'Channel folders',
      fate: OF_REALM,
      keep: { 'Ids without text.': ['creator_id'] },
      anonymise: ['description', 'rendered_description'],
      other: ['name', 'name_key'],
    },
    default_channel_group: { other: ['name', 'name_key', 'description', 'channel_ids'] },
  },
  notExported: { channel_address: 'Addresses are secrets.' },
} satisfies FeatureTables;
