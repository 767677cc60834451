/** Meaning of API fields for the comparison. */

const KIND_BY_FIELD: Readonly<Record<string, readonly string[]>> = {
  user: [
    'user_id',
    'sender_id',
    'other_user_id',
    'creator_id',
    'bot_owner_id',
    'acting_user_id',
    'author_id',
    'invited_by_user_id',
    'members',
    'user_ids',
    'subscribers',
    'partial_subscribers',
    'direct_members',
    'display_recipient',
    'sender',
    'recipients',
    'person',
    'bot',
    'muted_users',
    'realm_users',
    'user',
    'already_subscribed',
    'subscribed',
    'principals',
  ],
  channel: [
    'stream_id',
    'new_stream_id',
    'stream_ids',
    'prev_stream',
    'stream',
    'streams',
    'default_streams',
    'realm_default_streams',
    'channel_id',
    'new_stream_announcements_stream_id',
    'signup_announcements_stream_id',
    'zulip_update_announcements_stream_id',
    'ignored_because_not_subscribed_channels',
  ],
  message: [
    'message_id',
    'message_ids',
    'first_message_id',
    'max_id',
    'anchor',
    'message',
    'messages',
    'first_processed_id',
    'last_processed_id',
    'unread_message_ids',
    'starred_messages',
  ],
  group: ['group_id', 'direct_subgroup_ids', 'direct_subgroups', 'group', 'user_groups', 'subgroups'],
  draft: ['draft', 'drafts', 'draft_id', 'ids'],
  order: ['order'],
};

const KINDS = new Map(
  Object.entries(KIND_BY_FIELD).flatMap(([kind, fields]) => fields.map((field) => [field, kind] as const)),
);

/** Fields that are named like ids but contain plain numbers. */
const PLAIN_NUMBERS = new Set(['status', 'avatar_version', 'type', 'role', 'bot_type', 'visibility_policy']);

export const TIME_FIELDS: ReadonlySet<string> = new Set([
  'date_created',
  'timestamp',
  'last_updated',
  'edit_timestamp',
  'last_edit_timestamp',
  'last_moved_timestamp',
  'server_timestamp',
  'create_time',
  'scheduled_delivery_timestamp',
  'expiry_date',
  'invited',
  'export_time',
  'active_timestamp',
  'idle_timestamp',
  'realm_date_created',
]);

/** Fields that are random, grow with stored data, or identify the server. */
export const FREE_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'max_message_id',
  'upload_space_used',
  'zulip_version',
  'zulip_merge_base',
  'zulip_feature_level',
  'server_generation',
]);

/** Lists compared without order, with the member to sort by; null for lists of strings. */
export const UNORDERED_LISTS: ReadonlyMap<string, string | null> = new Map([
  ['display_recipient', 'full_name'],
  ['recipients', 'email'],
  ['user_groups', 'name'],
  ['subscriptions', 'name'],
  ['streams', 'name'],
  ['allowed_methods', null],
  ['ignored_parameters_unsupported', null],
]);

/** Maps by user, keyed by email or id depending on the level. */
export const FIELDS_BY_USER: ReadonlySet<string> = new Set(['subscribed', 'already_subscribed']);

/**
 * Returns the kind of object that a number in a field refers to; null for plain numbers. `path`: position including the
 * field.
 */
export function kindOfField(path: readonly (string | number)[], field: string): string | null {
  const kind = KINDS.get(field);
  if (kind !== undefined) return kind;
  if (field === 'value' && path[0] === 'first_message_id') return 'message';
  if (field === 'id') {
    const parent = path.slice(0, -1).findLast((step) => typeof step === 'string') as string | undefined;
    return parent === undefined ? 'id' : (KINDS.get(parent) ?? parent);
  }
  if (PLAIN_NUMBERS.has(field) || field.endsWith('_limit_seconds')) return null;
  if ((field.endsWith('_group') && field.startsWith('can_')) || field.endsWith('_permission_group')) return 'group';
  return field.endsWith('_id') || field.endsWith('_ids') ? field : null;
}

/**
 * Returns the field with the same meaning as the recipient of a draft or scheduled message, which depends on its
 * type.
 */
export function fieldOfAddressee(type: unknown): string {
  return type === 'stream' ? 'stream_id' : 'user_ids';
}

/** Returns the kind of a saved value by its name in cases.json. */
export function kindOfSaved(name: string): string {
  if (/^(u\d|b\d)$/.test(name)) return 'user';
  if (['pub', 'prv', 'own', 'a', 'b', 'p', 'h', 'w', 'd', 'f'].includes(name)) return 'channel';
  if (/^(g\d|g\.\w+)$/.test(name)) return 'group';
  if (/^(m\d|m\..*|dm.*)$/.test(name)) return 'message';
  return name;
}
