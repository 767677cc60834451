import type { MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  type Echo,
  type ExternalSend,
  type FirstSend,
  MAX_REMEMBERED_SENDS,
  type SentOnceRepository,
} from '@parley/domain/writing';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

interface SendRow {
  readonly message_id: MessageId;
  readonly digest: string;
  readonly sent_at: UnixSeconds;
}

export class SqlSentOnceRepository implements SentOnceRepository {
  private readonly byEcho;
  private readonly byExternalId;
  private readonly addExternal;
  private readonly replace;
  private readonly trim;
  private readonly expire;

  constructor(connection: Statements) {
    const { indexedBy } = connection.dialect;
    this.byEcho = connection.rows<SendRow>(
      `SELECT message_id, digest, sent_at FROM sent_once
       WHERE user_id = ? AND queue_id = ? AND local_id = ? AND realm_id = ?`,
    );
    this.byExternalId = connection.rows<ExternalSend>(
      `SELECT realm_id AS "realmId", external_id AS "externalId", message_id AS "messageId", digest
       FROM external_send WHERE realm_id = ? AND external_id = ?`,
    );
    this.addExternal = connection.command(
      `INSERT INTO external_send (realm_id, external_id, message_id, digest) VALUES (?, ?, ?, ?)
       ON CONFLICT (realm_id, external_id) DO NOTHING`,
    );
    this.replace = connection.command(
      `INSERT INTO sent_once (realm_id, user_id, queue_id, local_id, message_id, digest, sent_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id, queue_id, local_id, realm_id) DO UPDATE
       SET message_id = excluded.message_id, digest = excluded.digest, sent_at = excluded.sent_at`,
    );
    this.trim = connection.command(
      `DELETE FROM sent_once ${indexedBy('sent_once_of_queue')}
       WHERE user_id = ? AND realm_id = ? AND message_id <= (
         SELECT message_id FROM sent_once ${indexedBy('sent_once_of_queue')}
         WHERE user_id = ? AND realm_id = ?
         ORDER BY message_id DESC LIMIT 1 OFFSET ${MAX_REMEMBERED_SENDS})`,
    );
    this.expire = connection.command(
      `DELETE FROM sent_once WHERE (user_id, queue_id, local_id, realm_id) IN (
         SELECT user_id, queue_id, local_id, realm_id FROM sent_once ${indexedBy('sent_once_by_time')}
         WHERE realm_id = ? AND sent_at < ? ORDER BY sent_at LIMIT ? + 0)`,
    );
  }

  async find(realmId: RealmId, userId: UserId, { queueId, localId }: Echo): Promise<FirstSend | null> {
    const row = await this.byEcho.get(userId, queueId, localId, realmId);
    if (!row) return null;
    const { message_id: messageId, digest, sent_at: sentAt } = row;
    return { realmId, userId, queueId, localId, messageId, digest, sentAt };
  }

  async findExternal(realmId: RealmId, externalId: string): Promise<ExternalSend | null> {
    return (await this.byExternalId.get(realmId, externalId)) ?? null;
  }

  async putExternal({ realmId, externalId, messageId, digest }: ExternalSend): Promise<void> {
    this.addExternal.defer(realmId, externalId, messageId, digest);
  }

  async put({ realmId, userId, queueId, localId, messageId, digest, sentAt }: FirstSend): Promise<void> {
    this.replace.defer(realmId, userId, queueId, localId, messageId, digest, sentAt);
    this.trim.defer(userId, realmId, userId, realmId);
  }

  async removeBefore(realmId: RealmId, time: UnixSeconds, limit: number): Promise<void> {
    this.expire.defer(realmId, time, limit);
  }
}

const TABLES = `
-- Sends that are remembered for a day, so that a retry returns the first message.

CREATE TABLE sent_once (
  realm_id {int} NOT NULL REFERENCES realm (id),
  user_id {int} NOT NULL,
  queue_id {text} NOT NULL,
  local_id {text} NOT NULL,
  message_id {int} NOT NULL,
  digest {text} NOT NULL,
  sent_at {int} NOT NULL,
  PRIMARY KEY (user_id, queue_id, local_id, realm_id)
) {withoutRowId};
CREATE INDEX sent_once_of_queue ON sent_once (user_id, queue_id, message_id, realm_id);
CREATE INDEX sent_once_by_time ON sent_once (realm_id, sent_at);
`;

const EXTERNAL_IDS = `
-- expand: messages that the embedding application sent with an id. The previous release ignores them.

CREATE TABLE external_send (
  realm_id {int} NOT NULL REFERENCES realm (id),
  external_id {text} NOT NULL,
  message_id {int} NOT NULL,
  PRIMARY KEY (realm_id, external_id)
) {withoutRowId};
`;

const LATEST_OF_SENDER = `
-- expand: sends are limited per sender. The index keeps its name, which statements of the previous release use.

DROP INDEX sent_once_of_queue;
CREATE INDEX sent_once_of_queue ON sent_once (user_id, message_id, realm_id);
`;

const EXTERNAL_DIGESTS = `
-- expand: digests of calls with an external id; null for sends of the previous release.

ALTER TABLE external_send ADD COLUMN digest {text};
`;

export const SEND_ONCE_FEATURE = {
  schema: 'send-once',
  steps: { 6: TABLES, 32: EXTERNAL_IDS, 39: LATEST_OF_SENDER, 70: EXTERNAL_DIGESTS },
  realmTables: ['sent_once', 'external_send'],
  persons: {
    sent_once: { data: 'Sends by clients', fate: EXPIRES, erase: 'user_id = {id}' },
    external_send: { other: ['external_id', 'digest'] },
  },
  notExported: {
    sent_once: 'Retries of the last day.',
    external_send: 'The ids belong to the application of the original server.',
  },
  repositories: () => (connection) => ({ sentOnce: new SqlSentOnceRepository(connection) }),
} satisfies StorageFeature;
