import type { ChannelEventTypes } from '@parley/domain/channels';
import type { EventOf } from '@parley/domain/events';
import { type EventContext, opened, type Presented, type Presenters, toAll } from '../events/event-presenter.js';
import type { SharedText } from '../events/shared-texts.js';
import { presentChannel, presentOwnSettings, presentTopic, VISIBILITY_POLICIES } from './channel.presenters.js';

export const CHANNEL_EVENTS = {
  'channel.created': toAll('stream', ({ channels }) => ({ op: 'create', streams: channels.map(presentChannel) })),
  'channel.hidden': toAll('stream', ({ channelIds }) => ({
    op: 'delete',
    streams: channelIds.map((stream_id) => ({ stream_id })),
    stream_ids: channelIds,
  })),
  'channel.property_changed': toAll('stream', ({ channelId, name, property, value }) => ({
    op: 'update',
    stream_id: channelId,
    name,
    property: property === 'firstMessageId' ? 'first_message_id' : 'is_recently_active',
    value,
  })),
  'subscription.added': { wireTypes: ['subscription'], present: presentSubscriptionsAdded },
  'subscription.removed': {
    wireTypes: ['subscription'],
    present: ({ channels }, { receiver }) => {
      const left = channels.filter(({ userIds }) => userIds.includes(receiver.userId));
      const subscriptions = left.map(({ id, name }) => ({ stream_id: id, name }));
      return [[opened({ type: 'subscription', op: 'remove', subscriptions })]];
    },
  },
  'channel.subscribers_changed': toAll('subscription', ({ op, channelIds, userIds }) => ({
    op: `peer_${op}`,
    stream_ids: channelIds,
    user_ids: userIds,
  })),
  'default_channels.changed': toAll('default_streams', ({ channelIds }) => ({ default_streams: channelIds })),
  'topic.policy_changed': { wireTypes: ['muted_topics', 'user_topic'], present: presentTopicPolicy },
} satisfies Presenters<keyof ChannelEventTypes>;

/** Each channel with everybody who follows it once for all newcomers, and beside it what is a newcomer's own. */
function presentSubscriptionsAdded(event: EventOf<'subscription.added'>, context: EventContext): Presented {
  const { receiver } = context;
  const pieces: (SharedText | string)[] = [];
  const channels = new Map(event.channels.map((followed) => [followed.channel.id, followed]));
  for (const row of event.subscriptions) {
    const followed = row.userId === receiver.userId ? channels.get(row.channelId) : undefined;
    if (!followed) continue;
    const { channel, subscriberIds } = followed;
    pieces.push(
      pieces.length === 0 ? '{"type":"subscription","op":"add","subscriptions":[' : ',',
      context.shared(`channel ${channel.id}`, () => opened({ ...presentChannel(channel), subscribers: subscriberIds })),
      `,${JSON.stringify(presentOwnSettings(row)).slice(1)}`,
    );
  }
  return pieces.length === 0 ? [] : [[...pieces, ']']];
}

/** In the older form first, which those do not get who name the newer one (events §6.7). */
function presentTopicPolicy(event: EventOf<'topic.policy_changed'>, context: EventContext): Presented {
  const { eventTypes: types } = context.presentation;
  const { showsEmptyTopics: allowsEmpty } = context;
  const older = [
    opened({
      type: 'muted_topics',
      muted_topics: event.muted.map(({ channelName, topic, changedAt }) => [
        channelName,
        presentTopic(topic, allowsEmpty),
        changedAt,
      ]),
    }),
  ];
  const newer = [
    opened({
      type: 'user_topic',
      stream_id: event.channelId,
      topic_name: presentTopic(event.topic, allowsEmpty),
      last_updated: event.changedAt,
      visibility_policy: VISIBILITY_POLICIES[event.visibility],
    }),
  ];
  if (types === null) return [older, newer];
  return types.includes('user_topic') ? [newer] : [older];
}
