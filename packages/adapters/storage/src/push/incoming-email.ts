import type { BouncedAddress, BouncedAddressRepository, SeededLink } from '@parley/domain/access';
import {
  foldCase,
  type MessageId,
  type RealmId,
  type Seed,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { ReplyAddress, ReplyAddressRepository } from '@parley/domain/push';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES, PAST } from '../engine/personal-data.js';
import { newSeed } from '../engine/seeds.js';
import type { Statements } from '../engine/statements.js';

export class SqlReplyAddressRepository implements ReplyAddressRepository {
  private readonly row;
  private readonly upsert;
  private readonly deleteExpired;

  constructor(connection: Statements) {
    this.row = connection.rows<ReplyAddressRow>('SELECT * FROM reply_address WHERE id = ?');
    this.upsert = connection.rows<SeededLink>(
      `INSERT INTO reply_address (realm_id, user_id, conversation, message_id, expires_at, seed) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id, conversation) DO UPDATE
       SET message_id = excluded.message_id, expires_at = excluded.expires_at
       RETURNING id, seed`,
    );
    this.deleteExpired = connection.command(
      `DELETE FROM reply_address WHERE id IN (SELECT id FROM reply_address WHERE expires_at < ? LIMIT ? + 0)`,
    );
  }

  async find(wanted: number): Promise<ReplyAddress | null> {
    const row = await this.row.get(wanted);
    if (!row) return null;
    const { id, realm_id: realmId, user_id: userId, message_id: messageId, expires_at: expiresAt, seed } = row;
    return { id, realmId, userId, messageId, expiresAt, seed };
  }

  async open(address: Parameters<ReplyAddressRepository['open']>[0]): Promise<SeededLink> {
    const { realmId, userId, conversation, messageId, expiresAt } = address;
    return await this.upsert.one(realmId, userId, conversation, messageId, expiresAt, newSeed());
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteExpired.run(now, limit)).changes;
  }
}

interface ReplyAddressRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly message_id: MessageId;
  readonly expires_at: UnixSeconds;
  readonly seed: Seed;
}

export class SqlBouncedAddressRepository implements BouncedAddressRepository {
  private readonly row;
  private readonly newest;
  private readonly upsert;
  private readonly delete;
  private readonly deleteOld;

  constructor(connection: Statements) {
    const columns = 'SELECT email, bounced_at AS "bouncedAt", reason FROM bounced_address';
    this.row = connection.rows<BouncedAddress>(`${columns} WHERE email_key = ?`);
    this.newest = connection.rows<BouncedAddress>(
      `${columns} ${connection.dialect.indexedBy('bounced_address_by_time')} ORDER BY bounced_at DESC, email_key LIMIT ? + 0`,
    );
    this.upsert = connection.command(
      `INSERT INTO bounced_address (email_key, email, bounced_at, reason) VALUES (?, ?, ?, ?)
       ON CONFLICT (email_key) DO UPDATE
       SET email = excluded.email, bounced_at = excluded.bounced_at, reason = excluded.reason`,
    );
    this.delete = connection.command('DELETE FROM bounced_address WHERE email_key = ?');
    this.deleteOld = connection.command(
      `DELETE FROM bounced_address
       WHERE email_key IN (SELECT email_key FROM bounced_address WHERE bounced_at < ? LIMIT ? + 0)`,
    );
  }

  async find(email: string): Promise<BouncedAddress | null> {
    return (await this.row.get(foldCase(email))) ?? null;
  }

  async list(limit: number): Promise<readonly BouncedAddress[]> {
    return this.newest.all(limit);
  }

  async put({ email, bouncedAt, reason }: BouncedAddress): Promise<void> {
    this.upsert.defer(foldCase(email), email, bouncedAt, reason);
  }

  async remove(email: string): Promise<boolean> {
    return (await this.delete.run(foldCase(email))).changes > 0;
  }

  async removeBefore(time: UnixSeconds, limit: number): Promise<number> {
    return (await this.deleteOld.run(time, limit)).changes;
  }
}

const TABLES = `
-- Addresses for replies to emails about missed messages, and addresses that no email reaches.

CREATE TABLE reply_address (
  -- The address contains it in masked form.
  id {INTEGER PRIMARY KEY AUTOINCREMENT|bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY},
  realm_id {int} NOT NULL,
  user_id {int} NOT NULL REFERENCES {user} (id),
  conversation {text} NOT NULL,
  message_id {int} NOT NULL,
  expires_at {int} NOT NULL
) {strict};
CREATE UNIQUE INDEX reply_address_of_user ON reply_address (user_id, conversation);
CREATE INDEX reply_address_by_expiry ON reply_address (expires_at);
CREATE INDEX reply_address_by_realm ON reply_address (realm_id);

-- Belongs to no organization: a mail server refused the address.
CREATE TABLE bounced_address (
  email_key {text} PRIMARY KEY,
  email {text} NOT NULL,
  bounced_at {int} NOT NULL,
  reason {text} NOT NULL
) {withoutRowId};
CREATE INDEX bounced_address_by_time ON bounced_address (bounced_at);
`;

const LINK_SEEDS = `
-- expand: links in emails of lost rows after a restore do not open later ones.
ALTER TABLE reply_address ADD COLUMN seed {text};
ALTER TABLE confirmation ADD COLUMN seed {text};
`;

export const INCOMING_EMAIL_FEATURE = {
  schema: 'incoming-email',
  steps: { 17: TABLES, 69: LINK_SEEDS },
  realmTables: ['reply_address'],
  persons: {
    reply_address: { data: 'Addresses for replies by email', fate: EXPIRES, erase: 'user_id = {id}' },
    bounced_address: { data: 'Addresses that rejected email', fate: PAST, erase: 'lower(email) = lower({email})' },
  },
  notExported: { reply_address: 'They are secrets.' },
  repositories: () => (connection) => ({
    replyAddresses: new SqlReplyAddressRepository(connection),
    bouncedAddresses: new SqlBouncedAddressRepository(connection),
  }),
} satisfies StorageFeature;
