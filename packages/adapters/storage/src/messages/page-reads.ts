import {
  type ChannelId,
  getOrThrow,
  type MessageId,
  type RealmId,
  type RecipientId,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import {
  HISTORICAL,
  type MessageCondition,
  type MessageFilter,
  type MessageIdRange,
  type MessageListEntry,
  type MessagePageReads,
  type MessageText,
  type MessageView,
  type Viewer,
} from '@parley/domain/messages';
import { SentSince } from '../channels/sent-since.js';
import type { MessagePartReads } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import { grouped } from '../engine/rows.js';
import type { MaybePromise, Query, Statements } from '../engine/statements.js';
import { toUserSummary, type UserSummaryRow } from '../users/users.js';
import { type MessageRow, type SubmessageRow, toSubmessage } from './message-rows.js';
import { MessageRows } from './messages.js';
import type { PageBounds } from './page-range.js';
import type { IndexRowsById, MessageIndexRow, ViewerMessageState } from './viewer-message-state.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;

/** Columns of `"user" u` for presentation with messages. */
export const USER_SUMMARY = `u.id, u.full_name, u.email, u.settings, u.avatar_source, u.avatar_version, u.avatar_key,
  u.bot_kind IS NOT NULL AS is_bot, u.system_kind IS NOT NULL AS is_system_bot, u.external_id`;

/** Database-specific reads, because their cost determines the speed of pages. */
export interface MessagePageParts {
  readonly states: {
    load(viewer: Viewer, messages: readonly MessageIndexRow[]): MaybePromise<ViewerMessageState>;
  };
  readonly pages: {
    /** Returns at most `limit` messages in page direction. */
    page(viewer: Viewer, filter: MessageFilter, pageBounds: PageBounds, limit: number): MaybePromise<MessageIndexRow[]>;
    /** Returns the given messages that match all conditions, in order. */
    among(
      viewer: Viewer,
      indexRows: readonly MessageIndexRow[],
      conditions: readonly MessageCondition[],
    ): MaybePromise<MessageIndexRow[]>;
  };
  readonly indexRowsById: IndexRowsById;
}

export type ConversationName = readonly [RecipientId, ChannelId | null, string | null];

/** Rows from which message views are assembled. */
export interface ViewRows {
  readonly rows: readonly MessageRow[];
  readonly names: readonly ConversationName[];
  /** Participants of direct conversations, ascending per conversation. */
  readonly participants: ReadonlyMap<RecipientId, readonly { readonly id: UserId }[]>;
  readonly users: readonly UserSummaryRow[];
  readonly submessages: readonly SubmessageRow[];
}

export abstract class SqlMessagePageReads implements MessagePageReads {
  protected readonly rows: MessageRows;
  protected readonly submessages: Query<SubmessageRow>;
  private readonly sentSince: SentSince;
  private readonly conversationHeads;
  private readonly senderVersions;
  private readonly texts;

  constructor(
    private readonly statements: Statements,
    private readonly own: MessagePageParts,
    private readonly quarantine: Quarantine,
    private readonly parts: readonly MessagePartReads[],
  ) {
    this.rows = new MessageRows(statements, quarantine);
    this.sentSince = new SentSince(statements);

    const { inSet } = statements.dialect;
    this.texts = statements.rows<MessageText>(
      `SELECT id, topic, rendered_content AS "renderedContent"
       FROM message WHERE id ${inSet} AND +realm_id = ? ORDER BY id`,
    );
    this.conversationHeads = statements.tuples<readonly [RecipientId, ChannelId | null, number]>(
      `SELECT r.id, r.channel_id,
              CASE WHEN r.channel_id IS NULL
                   THEN (SELECT CAST(sum(u.version) AS bigint) FROM direct_participant p JOIN "user" u ON u.id = p.user_id
                         WHERE p.recipient_id = r.id)
                   ELSE (SELECT c.version FROM channel c WHERE c.id = r.channel_id) END
       FROM recipient r WHERE r.id ${inSet} AND +r.realm_id = ?`,
    );
    this.senderVersions = statements.tuples<readonly [UserId, number]>(
      `SELECT id, version FROM "user" WHERE id ${inSet}`,
    );
    this.submessages = statements.rows(`SELECT * FROM submessage WHERE message_id ${inSet} ORDER BY id`);
  }

  protected abstract viewRows(realmId: RealmId, ids: readonly MessageId[]): Promise<ViewRows>;

  async listEntriesUpTo(
    viewer: Viewer,
    filter: MessageFilter,
    atMost: number | null,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageBounds: PageBounds = { direction: 'older', first: 0, last: Math.min(atMost ?? MAX_ID, MAX_ID) };
    return this.toEntries(viewer, (await this.own.pages.page(viewer, filter, pageBounds, limit)).reverse());
  }

  async listEntriesFrom(
    viewer: Viewer,
    filter: MessageFilter,
    atLeast: number,
    limit: number,
  ): Promise<readonly MessageListEntry[]> {
    const pageBounds: PageBounds = { direction: 'newer', first: atLeast, last: MAX_ID };
    return this.toEntries(viewer, await this.own.pages.page(viewer, filter, pageBounds, limit));
  }

  async listEntries(
    viewer: Viewer,
    ids: readonly MessageId[],
    conditions: readonly MessageCondition[] = [],
  ): Promise<readonly MessageListEntry[]> {
    const indexRows = await this.own.indexRowsById.list(viewer.realmId, ids);
    return this.toEntries(viewer, await this.own.pages.among(viewer, indexRows, conditions));
  }

  async listTexts(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageText[]> {
    return this.texts.all(this.statements.dialect.set(ids), realmId);
  }

  async listViews(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageView[]> {
    const { rows, names, participants, users, submessages } = await this.viewRows(realmId, ids);
    const conversations = new Map(names.map((each) => [each[0], each]));
    const usersById = new Map(users.map((row) => [row.id, toUserSummary(row, this.quarantine)]));
    const submessagesOf = grouped(submessages, (row) => row.message_id);
    const messages = rows.map((row) => this.rows.toMessage(row));
    const parts = await Promise.all(this.parts.map((part) => part.list(messages)));
    return messages.map((message) => {
      const [, channelId, name] = getOrThrow(conversations, message.recipientId);
      return {
        message,
        sender: getOrThrow(usersById, message.senderId),
        submessages: (submessagesOf.get(message.id) ?? []).map(toSubmessage),
        ...Object.assign({}, ...parts.map((part) => part.get(message.id))),
        conversation:
          channelId !== null
            ? { kind: 'channel', channelId, name: name! }
            : {
                kind: 'direct',
                participants: getOrThrow(participants, message.recipientId).map(({ id }) => getOrThrow(usersById, id)),
              },
      };
    });
  }

  listIdsSince(realmId: RealmId, since: UnixSeconds): Promise<readonly MessageIdRange[]> {
    return this.sentSince.ranges(realmId, since);
  }

  /** Converts ascending rows; rows of another realm's conversations are dropped. */
  private async toEntries(viewer: Viewer, indexRows: readonly MessageIndexRow[]): Promise<MessageListEntry[]> {
    if (indexRows.length === 0) return [];
    const { set } = this.statements.dialect;
    const [heads, versions, state] = await Promise.all([
      this.conversationHeads.all(set(new Set(indexRows.map((indexRow) => indexRow[2]))), viewer.realmId),
      this.senderVersions.all(set(new Set(indexRows.map((indexRow) => indexRow[1])))),
      this.own.states.load(viewer, indexRows),
    ]);
    const conversations = new Map(heads.map((each) => [each[0], each]));
    const senders = new Map(versions);
    const entries: MessageListEntry[] = [];
    for (const indexRow of indexRows) {
      const [id, senderId, recipientId, , , , version] = indexRow;
      const conversation = conversations.get(recipientId);
      if (!conversation) continue;
      entries.push({
        id,
        senderId,
        recipientId,
        channelId: conversation[1],
        versions: { message: version, sender: getOrThrow(senders, senderId), conversation: conversation[2] },
        flags: state.flags(indexRow) ?? HISTORICAL,
      });
    }
    return entries;
  }
}
