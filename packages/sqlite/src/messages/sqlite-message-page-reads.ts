import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  HISTORICAL,
  type MessageCondition,
  type MessageFilter,
  type MessageListEntry,
  type MessagePageReads,
  type MessageText,
  type MessageView,
  type Submessage,
  type UserSummary,
  type Viewer,
} from '@parley/domain/messages';
import { USER_SETTINGS } from '@parley/domain/realms';
import type { Connection } from '../engine/connection.js';
import type { Quarantine } from '../engine/quarantine.js';
import { type Flag, jsonList, settingsColumn } from '../engine/rows.js';
import { type AvatarColumns, toAvatar } from '../users/avatar-columns.js';
import { type MessageIndexRow, MessageIndexRowsById } from './message-index-row.js';
import { MessagePages } from './message-pages.js';
import type { MessagePartReads } from './message-part-reads.js';
import { MessageRows } from './message-rows.js';
import type { PageRange } from './message-series.js';
import { SentSince } from './sent-since.js';
import { type SubmessageRow, toSubmessage } from './submessage-rows.js';
import { ViewerMessageStates } from './viewer-message-state.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;
/** How many ids are looked through for one of a realm. */
const NEAR_IDS = 1000;

export class SqliteMessagePageReads implements MessagePageReads {
  private readonly states: ViewerMessageStates;
  private readonly pages: MessagePages;
  private readonly indexRowsById: MessageIndexRowsById;
  private readonly rows: MessageRows;
  private readonly sentSince: SentSince;

  private readonly conversationHeads;
  private readonly senderVersions;
  private readonly conversationNames;
  private readonly participantIds;
  private readonly texts;
  private readonly submessages;
  private readonly usersById;
  private readonly firstInRealm;
  private readonly firstOfRecipients;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
    private readonly parts: readonly MessagePartReads[],
  ) {
    this.states = new ViewerMessageStates(connection);
    this.pages = new MessagePages(connection, this.states);
    this.indexRowsById = new MessageIndexRowsById(connection);
    this.rows = new MessageRows(connection, quarantine);
    this.sentSince = new SentSince(connection);

    this.texts = connection.rows<MessageText>(
      `SELECT m.id, m.topic, m.rendered_content AS renderedContent
       FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE m.realm_id = ? ORDER BY m.id`,
    );
    this.conversationHeads = connection.tuples<readonly [RecipientId, ChannelId | null, number]>(
      `SELECT r.id, r.channel_id,
              CASE WHEN r.channel_id IS NULL
                   THEN (SELECT sum(u.version) FROM direct_participant p JOIN user u ON u.id = p.user_id
                         WHERE p.recipient_id = r.id)
                   ELSE (SELECT c.version FROM channel c WHERE c.id = r.channel_id) END
       FROM recipient r WHERE r.id IN (SELECT value FROM json_each(?)) AND +r.realm_id = ?`,
    );
    this.senderVersions = connection.tuples<readonly [UserId, number]>(
      'SELECT id, version FROM user WHERE id IN (SELECT value FROM json_each(?))',
    );
    this.conversationNames = connection.tuples<readonly [RecipientId, ChannelId | null, string | null]>(
      `SELECT r.id, r.channel_id, c.name FROM recipient r LEFT JOIN channel c ON c.id = r.channel_id
       WHERE r.id IN (SELECT value FROM json_each(?))`,
    );
    this.participantIds = connection.tuples<readonly [RecipientId, UserId]>(
      `SELECT recipient_id, user_id FROM direct_participant
       WHERE recipient_id IN (SELECT value FROM json_each(?)) ORDER BY recipient_id, user_id`,
    );
    this.submessages = connection.rows<SubmessageRow>(
      'SELECT * FROM submessage WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY id',
    );
    this.usersById = connection.rows<UserSummaryRow>(
      `SELECT id, full_name, email, settings, avatar_source, avatar_version, avatar_key, bot_kind IS NOT NULL AS is_bot,
              system_kind IS NOT NULL AS is_system_bot
       FROM user WHERE id IN (SELECT value FROM json_each(?))`,
    );
    // In most realms the next message is near; a quiet one among busy ones asks its own recipients.
    this.firstInRealm = connection.values<MessageId>(
      `SELECT id FROM message WHERE id >= ? AND id < ? AND realm_id = ? ORDER BY id LIMIT 1`,
    );
    this.firstOfRecipients = connection.values<MessageId | null>(
      `SELECT min((SELECT m.id FROM message m INDEXED BY message_by_recipient
                   WHERE m.recipient_id = r.id AND m.id >= ? ORDER BY m.id LIMIT 1))
       FROM recipient r WHERE r.realm_id = ?`,
    );
  }

  async listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageRange: PageRange = { direction: 'older', first: 0, last: Math.min(atMost ?? MAX_ID, MAX_ID) };
    return this.toEntries(viewer, this.pages.page(viewer, filter, pageRange, limit).reverse());
  }

  async listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageRange: PageRange = { direction: 'newer', first: atLeast, last: MAX_ID };
    return this.toEntries(viewer, this.pages.page(viewer, filter, pageRange, limit));
  }

  async listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageListEntry[]> {
    return this.toEntries(viewer, this.pages.among(viewer, this.indexRowsById.list(viewer.realmId, ids), conditions));
  }

  async listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]> {
    return this.texts.all(jsonList(new Set(ids)), realmId);
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    const rows = this.rows.list(realmId, ids);
    const recipientIds = jsonList(new Set(rows.map((row) => row.recipient_id)));
    const conversations = new Map(this.conversationNames.all(recipientIds).map((each) => [each[0], each]));
    const userIds = new Map<RecipientId, UserId[]>();
    for (const [recipientId, userId] of this.participantIds.all(recipientIds)) {
      const known = userIds.get(recipientId);
      if (known) known.push(userId);
      else userIds.set(recipientId, [userId]);
    }
    const named = new Set([...rows.map((row) => row.sender_id), ...[...userIds.values()].flat()]);
    const usersById = new Map(this.usersById.all(jsonList(named)).map((row) => [row.id, this.toUserSummary(row)]));
    const submessages = this.submessagesOf(rows.map((row) => row.id));
    const messages = rows.map((row) => this.rows.toMessage(row));
    const parts = this.parts.map((part) => part.list(messages));
    return messages.map((message) => {
      const [, channelId, name] = conversations.get(message.recipientId)!;
      return {
        message,
        sender: usersById.get(message.senderId)!,
        submessages: submessages.get(message.id) ?? [],
        ...Object.assign({}, ...parts.map((part) => part.get(message.id))),
        conversation:
          channelId !== null
            ? { kind: 'channel', channelId, name: name! }
            : { kind: 'direct', participants: userIds.get(message.recipientId)!.map((id) => usersById.get(id)!) },
      };
    });
  }

  async findFirstIdSince(realmId: RealmId, since: UnixSeconds): Promise<MessageId | null> {
    const first = this.sentSince.firstId(realmId, since);
    const near = this.firstInRealm.get(first, first + NEAR_IDS, realmId);
    return near ?? this.firstOfRecipients.get(first + NEAR_IDS, realmId) ?? null;
  }

  /** `places` ascend. Those of another realm's conversations are left out. */
  private toEntries(viewer: Viewer, places: readonly MessageIndexRow[]): MessageListEntry[] {
    if (places.length === 0) return [];
    const recipientIds = jsonList(new Set(places.map((place) => place[2])));
    const conversations = new Map(
      this.conversationHeads.all(recipientIds, viewer.realmId).map((each) => [each[0], each]),
    );
    if (conversations.size === 0) return [];
    const senders = new Map(this.senderVersions.all(jsonList(new Set(places.map((place) => place[1])))));
    const state = this.states.load(viewer, places);
    const entries: MessageListEntry[] = [];
    for (const place of places) {
      const [id, senderId, recipientId, , , , version] = place;
      const conversation = conversations.get(recipientId);
      if (!conversation) continue;
      entries.push({
        id,
        senderId,
        recipientId,
        channelId: conversation[1],
        versions: { message: version, sender: senders.get(senderId)!, conversation: conversation[2] },
        flags: state.flags(place) ?? HISTORICAL,
      });
    }
    return entries;
  }

  private submessagesOf(ids: readonly MessageId[]): ReadonlyMap<MessageId, readonly Submessage[]> {
    const found = new Map<MessageId, Submessage[]>();
    for (const row of this.submessages.all(jsonList(ids))) {
      const known = found.get(row.message_id);
      if (known) known.push(toSubmessage(row));
      else found.set(row.message_id, [toSubmessage(row)]);
    }
    return found;
  }

  private toUserSummary(row: UserSummaryRow): UserSummary {
    return {
      id: row.id,
      fullName: row.full_name,
      email: row.email,
      emailVisibility:
        row.is_bot === 1
          ? 'everyone'
          : userSettings.fromJson(row.settings, row.id, this.quarantine).emailAddressVisibility,
      avatar: toAvatar(row, this.quarantine),
      isSystemBot: row.is_system_bot === 1,
    };
  }
}

interface UserSummaryRow extends AvatarColumns {
  readonly full_name: string;
  readonly email: string;
  readonly settings: string;
  readonly is_bot: Flag;
  readonly is_system_bot: Flag;
}

const userSettings = settingsColumn(USER_SETTINGS, 'user', 'settings');
