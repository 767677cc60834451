import { CHANNEL_PERMISSIONS, type ChannelPermission } from '@parley/domain/channels';
import { type EventForm, form, propertyForms } from '../events/event-forms.js';
import { permissionFields } from '../groups/group.answers.js';
import { permissionTitle } from '../groups/permission-title.js';
import * as wire from '../kernel/wire-schema.js';
import { CHANNEL, channel, OWN_SETTINGS, subscription } from './channel.answers.js';

const ids = wire.listOf(wire.integer());

/** Channels §6.1. */
export const CREATED = form('stream', { op: wire.oneOf('create'), streams: wire.listOf(channel) });

export const HIDDEN = form('stream', {
  op: wire.oneOf('delete'),
  streams: wire.listOf(wire.fields({ stream_id: wire.integer() })),
  stream_ids: ids,
});

const update = (shape: wire.Shape) =>
  form('stream', { op: wire.oneOf('update'), stream_id: wire.integer(), name: wire.text(), ...shape });

const updates = (values: wire.Schemas) => propertyForms(values, update);

export const ARCHIVED = updates({ is_archived: CHANNEL.is_archived });

export const PROPERTY_CHANGED: readonly [EventForm, ...EventForm[]] = [
  ...updates({
    name: CHANNEL.name,
    message_retention_days: CHANNEL.message_retention_days,
    topics_policy: CHANNEL.topics_policy,
    folder_id: CHANNEL.folder_id,
    is_recently_active: CHANNEL.is_recently_active,
    first_message_id: CHANNEL.first_message_id,
  }),
  update({
    property: wire.oneOf('description'),
    value: CHANNEL.description,
    rendered_description: CHANNEL.rendered_description,
  }),
  update({
    property: wire.oneOf('invite_only'),
    value: CHANNEL.invite_only,
    history_public_to_subscribers: CHANNEL.history_public_to_subscribers,
    is_web_public: CHANNEL.is_web_public,
  }),
];

export const PERMISSION_CHANGED = updates({
  ...permissionFields((Object.keys(CHANNEL_PERMISSIONS) as ChannelPermission[]).map(permissionTitle)),
  stream_post_policy: CHANNEL.stream_post_policy,
  is_announcement_only: CHANNEL.is_announcement_only,
});

/** Channels §6.2. */
export const SUBSCRIBED = form('subscription', { op: wire.oneOf('add'), subscriptions: wire.listOf(subscription) });

export const UNSUBSCRIBED = form('subscription', {
  op: wire.oneOf('remove'),
  subscriptions: wire.listOf(wire.fields({ stream_id: wire.integer(), name: wire.text() })),
});

export const SUBSCRIPTION_CHANGED = propertyForms(OWN_SETTINGS, (shape) =>
  form('subscription', { op: wire.oneOf('update'), stream_id: wire.integer(), ...shape }),
);

export const PEERS_ADDED = form('subscription', { op: wire.oneOf('peer_add'), stream_ids: ids, user_ids: ids });
export const PEERS_REMOVED = form('subscription', { op: wire.oneOf('peer_remove'), stream_ids: ids, user_ids: ids });
