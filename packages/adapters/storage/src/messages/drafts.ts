import type { ChannelId, DraftId, MessageId, NewRow, RealmId, UserId } from '@parley/domain/kernel';
import { DRAFT_LIST, type Draft, type DraftRepository, quotedMessages } from '@parley/domain/writing';
import { type RowTable, SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';

/** Draft to a channel, to users, or to nobody yet. */
interface StoredDraft extends Pick<Draft, 'content' | 'editedAt'> {
  readonly channelId: ChannelId | null;
  readonly userIds: readonly UserId[] | null;
  readonly topic: string;
}

class SqlDrafts extends SqlRows<Draft, StoredDraft> implements DraftRepository {
  private readonly quoted = this.connection.values<MessageId>(
    `SELECT DISTINCT message_id FROM draft_quote WHERE realm_id = ? AND message_id ${this.connection.dialect.inSet}
     ORDER BY message_id`,
  );
  private readonly quoting = this.select(
    `id IN (
       SELECT draft_id FROM draft_quote WHERE realm_id = ? AND message_id = ? AND draft_id > ?
       ORDER BY draft_id LIMIT ? + 0
     ) ORDER BY id`,
  );
  private readonly deleteQuotes = this.connection.command(
    'DELETE FROM draft_quote WHERE draft_id = ? AND realm_id = ?',
  );
  private readonly insertQuotes = this.connection.command(
    `INSERT INTO draft_quote (draft_id, message_id, realm_id)
     SELECT d.id, quoted.value, d.realm_id
     FROM draft d CROSS JOIN (SELECT value FROM ${this.connection.dialect.elements('bigint')}) AS quoted
     WHERE d.id = ? AND d.realm_id = ?`,
  );

  async listQuoted(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly MessageId[]> {
    return this.quoted.all(realmId, this.connection.dialect.set(messageIds));
  }

  async listQuoting(realmId: RealmId, messageId: MessageId, after: number, limit: number): Promise<readonly Draft[]> {
    return (await this.quoting.all(realmId, messageId, after, limit)).map(this.toRow);
  }

  override async add(draft: NewRow<Draft>, reserved: DraftId | null = null): Promise<Draft> {
    const added = await super.add(draft, reserved);
    this.addQuotes(added);
    return added;
  }

  override async update(draft: Draft): Promise<void> {
    await super.update(draft);
    this.deleteQuotes.defer(draft.id, draft.realmId);
    this.addQuotes(draft);
  }

  private addQuotes({ id, realmId, content }: Draft): void {
    const quoted = quotedMessages(content);
    if (quoted.length > 0) this.insertQuotes.defer(this.connection.dialect.set(quoted), id, realmId);
  }
}

const DRAFT_TABLE: RowTable = new Table<Draft, StoredDraft>(
  DRAFT_LIST.rows,
  {
    columns: { channelId: 'int?', userIds: 'ids?', topic: 'text', content: 'text', editedAt: 'real' },
    indices: ['INDEX draft_by_user ON draft (user_id, edited_at, id, realm_id)'],
    pack: ({ to, content, editedAt }) => ({
      channelId: to.kind === 'channel' ? to.channelId : null,
      userIds: to.kind === 'direct' ? to.userIds : null,
      topic: to.kind === 'channel' ? to.topic : '',
      content,
      editedAt,
    }),
    unpack: ({ channelId, userIds, topic, ...draft }) => ({ ...draft, to: addressee(channelId, userIds, topic) }),
  },
  SqlDrafts,
);

const QUOTES = `
-- expand: finds the drafts that quote a deleted message.
CREATE TABLE draft_quote (
  draft_id {int} NOT NULL REFERENCES draft (id) ON DELETE CASCADE,
  -- The message may be deleted.
  message_id {int} NOT NULL,
  realm_id {int} NOT NULL REFERENCES realm (id),
  PRIMARY KEY (draft_id, message_id)
) {withoutRowId};

-- Existing drafts: all links to messages, whether they belong to quotes or not.
INSERT INTO draft_quote (draft_id, message_id, realm_id)
WITH RECURSIVE part (draft_id, realm_id, rest) AS (
  SELECT id, realm_id, substr(content, {instr|strpos}(content, '/near/') + 6) FROM draft
  WHERE {instr|strpos}(content, '/near/') > 0
  UNION ALL
  SELECT draft_id, realm_id, substr(rest, {instr|strpos}(rest, '/near/') + 6) FROM part
  WHERE {instr|strpos}(rest, '/near/') > 0
), link (draft_id, realm_id, message_id) AS (
  SELECT draft_id, realm_id, CAST({substr(rest, 1, 15)|substring(substr(rest, 1, 15) FROM '^[0-9]+')} AS bigint) FROM part
)
SELECT DISTINCT draft_id, message_id, realm_id FROM link WHERE message_id > 0;

CREATE INDEX draft_quote_by_message ON draft_quote (message_id, draft_id, realm_id);
`;

export const DRAFT_FEATURE = {
  schema: 'draft',
  steps: { 1: DRAFT_TABLE.sql, 62: QUOTES },
  realmTables: ['draft_quote', 'draft'],
  notExported: { draft_quote: 'Derives from the drafts.' },
  persons: {
    draft: { data: 'Drafts', fate: OF_ACCOUNT, erase: 'user_id = {id}', mentions: ['content'] },
    draft_quote: {},
  },
  rows: { drafts: DRAFT_TABLE },
} satisfies StorageFeature;

function addressee(channelId: ChannelId | null, userIds: readonly UserId[] | null, topic: string): Draft['to'] {
  if (channelId !== null) return { kind: 'channel', channelId, topic };
  return userIds === null ? { kind: 'nobody' } : { kind: 'direct', userIds };
}
