import type { RetentionDays, TopicsPolicy } from '@parley/domain/channels';

/** What clients call each policy of topics (channels §1). */
export const WIRE_TOPICS_POLICIES = {
  inherit: 'inherit',
  emptyTopicAllowed: 'allow_empty_topic',
  emptyTopicRefused: 'disable_empty_topic',
  emptyTopicOnly: 'empty_topic_only',
} as const satisfies Record<TopicsPolicy, string>;

export type WireTopicsPolicy = (typeof WIRE_TOPICS_POLICIES)[TopicsPolicy];

/** Null: as the organization says; -1: forever (channels §1). */
export const presentRetention = (days: RetentionDays | null): number | null => (days === 'forever' ? -1 : days);
