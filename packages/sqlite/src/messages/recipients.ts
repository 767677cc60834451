import type { ChannelId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Recipient, RecipientRepository } from '@parley/domain/messages';
import { jsonList } from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { Spans } from './read-sets.js';

export class SqliteRecipientRepository implements RecipientRepository {
  private readonly spans: Spans;
  private readonly rows;
  private readonly byPeople;
  private readonly shared;
  private readonly recent;
  private readonly directAfter;
  private readonly insert;
  private readonly insertParticipants;

  constructor(connection: Connection) {
    this.spans = new Spans(connection);
    this.rows = connection.tuples<RecipientRow>(
      `SELECT id, channel_id, direct_key FROM recipient
       WHERE +realm_id = ? AND id IN (SELECT value FROM json_each(?))`,
    );
    this.byPeople = connection.values<RecipientId>('SELECT id FROM recipient WHERE realm_id = ? AND direct_key = ?');
    // A conversation has one participant more than commas in its key.
    this.shared = connection.values<RecipientId>(
      `SELECT p.recipient_id FROM direct_participant p INDEXED BY direct_participant_recent
       CROSS JOIN direct_participant o ON o.recipient_id = p.recipient_id AND o.user_id = ?
       CROSS JOIN recipient r ON r.id = p.recipient_id
       WHERE p.user_id = ? AND p.realm_id = ?
         AND length(r.direct_key) - length(replace(r.direct_key, ',', '')) + 1 >= ?
       ORDER BY p.recipient_id`,
    );
    this.directAfter = connection.values<RecipientId>(
      `SELECT id FROM recipient INDEXED BY recipient_direct
       WHERE id > ? AND realm_id = ? AND channel_id IS NULL ORDER BY id ${LIMIT}`,
    );
    this.recent = connection.tuples<readonly [RecipientId, number]>(
      `SELECT recipient_id, last_message_id FROM direct_participant INDEXED BY direct_participant_recent
       WHERE user_id = ? AND last_message_id IS NOT NULL AND realm_id = ?
       ORDER BY last_message_id DESC ${LIMIT}`,
    );
    this.insert = connection.values<RecipientId>(
      'INSERT INTO recipient (realm_id, direct_key) VALUES (?, ?) RETURNING id',
    );
    this.insertParticipants = connection.command(
      'INSERT INTO direct_participant (recipient_id, user_id, realm_id) SELECT ?, value, ? FROM json_each(?)',
    );
  }

  async list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>> {
    return new Map(this.rows.all(realmId, jsonList(ids)).map((row) => [row[0], toRecipient(realmId, row)]));
  }

  async findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null> {
    return this.byPeople.get(realmId, peopleOf(userIds).join()) ?? null;
  }

  async listDirectWith(
    realmId: RealmId,
    userId: UserId,
    otherId: UserId,
    atLeastUsers: number,
  ): Promise<readonly RecipientId[]> {
    return this.shared.all(otherId, userId, realmId, atLeastUsers);
  }

  async listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]> {
    return this.directAfter.all(after, realmId, limit);
  }

  async listRecentDirect(
    realmId: RealmId,
    userId: UserId,
    limit: number,
  ): Promise<readonly { readonly recipientId: RecipientId; readonly lastMessageId: number }[]> {
    const rows = this.recent.all(userId, realmId, limit);
    return rows.map(([recipientId, lastMessageId]) => ({ recipientId, lastMessageId }));
  }

  async openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId> {
    const participants = peopleOf(userIds);
    const existing = this.byPeople.get(realmId, participants.join());
    if (existing !== undefined) return existing;
    const id = this.insert.get(realmId, participants.join())!;
    this.insertParticipants.run(id, realmId, jsonList(participants));
    this.spans.open(realmId, [id], participants);
    return id;
  }
}

type RecipientRow = readonly [id: RecipientId, channelId: ChannelId | null, directKey: string | null];

/** Returns ids ascending without duplicates. */
const peopleOf = (userIds: readonly UserId[]): UserId[] => [...new Set(userIds)].sort((a, b) => a - b);

function toRecipient(realmId: RealmId, [id, channelId, directKey]: RecipientRow): Recipient {
  return channelId !== null
    ? { kind: 'channel', id, realmId, channelId }
    : { kind: 'direct', id, realmId, userIds: directKey!.split(',').map((userId) => Number(userId) as UserId) };
}

export const RECIPIENT_FEATURE = {
  repositories: () => (connection) => ({ recipients: new SqliteRecipientRepository(connection) }),
} satisfies SqliteFeature;
