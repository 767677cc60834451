import { CHANNEL_PERMISSIONS, type Channel, type RetentionDays } from '@parley/domain/channels';
import { foldCase, type MessageId, type RecipientId, trim, type UserId } from '@parley/domain/kernel';
import { safeHtml } from '@parley/domain/markdown';
import { keyOfValue, RECIPIENT_TYPES, TOPICS_POLICY_NUMBERS, ZULIP_FOREVER } from '../layout.js';
import { flag, id, integer, object, orElse, orNull, printable, text, time, wrong } from '../parley-shapes.js';
import { channel, grouped, NAME, recipient, type TableReader, user } from './table-reader.js';

export function readChannels(tables: TableReader): readonly Channel[] {
  const defaults = new Set(tables.table('zerver_defaultstream', { stream: channel }).map((it) => it.stream));
  const recipients = new Map(
    tables
      .table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
      .filter(({ type }) => type === RECIPIENT_TYPES.channel)
      .map((it) => [it.type_id, it.id]),
  );
  const shape = object({
    id: channel,
    recipient: orNull(recipient),
    name: printable,
    description: orElse(text(10_000), ''),
    rendered_description: orElse(text(100_000), ''),
    date_created: time,
    creator: orNull(user),
    deactivated: orElse(flag, false),
    invite_only: orElse(flag, false),
    is_web_public: orElse(flag, false),
    history_public_to_subscribers: orElse(flag, true),
    message_retention_days: orNull(integer),
    topics_policy: orElse(integer, TOPICS_POLICY_NUMBERS.inherit),
    folder: orNull(id<never>()),
    first_message: orNull(id<MessageId>()),
    is_recently_active: orElse(flag, true),
  });
  const rows = tables.rows('zerver_stream').map((row, index) => ({ row, it: shape(row, `zerver_stream[${index}]`) }));
  const taken = new Set(rows.map(({ it }) => foldCase(it.name)));
  return rows.map(({ row, it }, index) => {
    const location = `zerver_stream[${index}]`;
    const recipientId = it.recipient ?? recipients.get(it.id);
    if (recipientId === undefined) throw wrong(`${location}.recipient`, 'is missing');
    return {
      id: it.id,
      realmId: tables.realmId,
      recipientId,
      name: it.deactivated ? restoredName(it.name, taken) : it.name,
      description: it.description,
      renderedDescription: safeHtml(it.rendered_description, it.description),
      privacy: it.is_web_public
        ? 'webPublic'
        : !it.invite_only
          ? 'public'
          : it.history_public_to_subscribers
            ? 'privateSharedHistory'
            : 'privateProtectedHistory',
      isArchived: it.deactivated,
      creatorId: it.creator,
      createdAt: it.date_created,
      messageRetentionDays: retentionOf(it.message_retention_days),
      topicsPolicy: keyOfValue(TOPICS_POLICY_NUMBERS, it.topics_policy) ?? 'inherit',
      folderId: it.folder,
      isDefault: defaults.has(it.id),
      isRecentlyActive: it.is_recently_active,
      firstMessageId: it.first_message,
      permissions: tables.permissionsOf(CHANNEL_PERMISSIONS, row),
      version: 1,
    };
  });
}

/** -1 means forever; other non-positive periods count as none. */
const retentionOf = (days: number | null): RetentionDays | null =>
  days === ZULIP_FOREVER ? 'forever' : days !== null && days > 0 ? days : null;

/**
 * Prefix of archived channels on older servers, made unique by a hash or, in even older versions, by exclamation marks.
 */
const ARCHIVED_PREFIX = /^(?:[0-9a-f]{1,20}|!{0,20})!DEACTIVATED:(?=\s*\S)/;

/** Returns the name before archiving, unless another channel has it, and adds it to `taken`. */
function restoredName(name: string, taken: Set<string>): string {
  const former = trim(name.replace(ARCHIVED_PREFIX, ''));
  if (former === name || taken.has(foldCase(former))) return name;
  taken.add(foldCase(former));
  return former;
}

export function readSubscriptions(tables: TableReader) {
  const choice = orNull(flag);
  return tables.table('zerver_subscription', {
    user_profile: user,
    recipient,
    active: orElse(flag, true),
    is_muted: orElse(flag, false),
    color: orElse(NAME, '#c2c2c2'),
    pin_to_top: orElse(flag, false),
    desktop_notifications: choice,
    audible_notifications: choice,
    push_notifications: choice,
    email_notifications: choice,
    wildcard_mentions_notify: choice,
  });
}

export function readConversations(
  tables: TableReader,
  subscriptions: readonly { readonly user_profile: UserId; readonly recipient: RecipientId }[],
) {
  const people = grouped(subscriptions, (it) => it.recipient);
  return tables
    .table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
    .filter(({ type }) => type === RECIPIENT_TYPES.direct)
    .map((it) => ({
      recipientId: it.id,
      userIds: [...new Set((people.get(it.id) ?? []).map((own) => own.user_profile))].sort((a, b) => a - b),
    }))
    .filter(({ userIds }) => userIds.length > 0);
}
