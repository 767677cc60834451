import type { ChannelId, MessageId, Ordinal, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { TopicLink } from '@parley/domain/markdown';
import type { Message } from '@parley/domain/messages';
import type { Connection, Query } from '../engine/connection.js';
import type { Quarantine } from '../engine/quarantine.js';
import { jsonList, listColumn } from '../engine/rows.js';
import { propertiesOf } from './stored-values.js';

export interface MessageRow {
  readonly id: MessageId;
  readonly realm_id: RealmId;
  readonly sender_id: UserId;
  readonly sent_recipient_id: RecipientId;
  readonly ordinal: Ordinal;
  readonly recipient_id: RecipientId;
  readonly channel_id: ChannelId | null;
  readonly property_bits: number;
  readonly version: number;
  readonly sent_at: UnixSeconds;
  readonly last_edited_at: UnixSeconds | null;
  readonly last_moved_at: UnixSeconds | null;
  readonly topic: string;
  readonly client_name: string;
  readonly topic_links: string | null;
  readonly content: string;
  readonly rendered_content: string;
}

/** Whole messages. */
export class MessageRows {
  private readonly row: Query<MessageRow>;
  private readonly rows: Query<MessageRow>;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows('SELECT * FROM message WHERE id = ? AND realm_id = ?');
    this.rows = connection.rows(
      'SELECT * FROM message WHERE id IN (SELECT value FROM json_each(?)) AND realm_id = ? ORDER BY id',
    );
  }

  /** The same as of a list of one, in less time. */
  find(realmId: RealmId, id: MessageId): MessageRow | undefined {
    return this.row.get(id, realmId);
  }

  /** Ascending id; unknown ids are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MessageRow[] {
    return this.rows.all(jsonList(ids), realmId);
  }

  toMessage(row: MessageRow): Message {
    return {
      id: row.id,
      realmId: row.realm_id,
      senderId: row.sender_id,
      sentRecipientId: row.sent_recipient_id,
      ordinal: row.ordinal,
      recipientId: row.recipient_id,
      channelId: row.channel_id,
      topic: row.topic,
      content: row.content,
      renderedContent: row.rendered_content,
      sentAt: row.sent_at,
      clientName: row.client_name,
      ...propertiesOf(row.property_bits),
      topicLinks: row.topic_links === null ? [] : topicLinks(row.topic_links, row.id, this.quarantine),
      lastEditedAt: row.last_edited_at,
      lastMovedAt: row.last_moved_at,
      version: row.version,
    };
  }
}

const isTopicLink = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as TopicLink).text === 'string' &&
  typeof (value as TopicLink).url === 'string';
const topicLinks = listColumn<TopicLink>('message', 'topic_links', isTopicLink);
