import type { ChannelId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Recipient, RecipientRepository } from '@parley/domain/messages';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { Spans } from './read-sets.js';

export class PostgresRecipientRepository implements RecipientRepository {
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
      'SELECT id, channel_id, direct_key FROM recipient WHERE realm_id = $1 AND id = ANY($2::bigint[])',
    );
    this.byPeople = connection.values<RecipientId>('SELECT id FROM recipient WHERE realm_id = $1 AND direct_key = $2');
    // A conversation has one participant more than commas in its key.
    this.shared = connection.values<RecipientId>(
      `SELECT p.recipient_id FROM direct_participant p
       JOIN direct_participant o ON o.recipient_id = p.recipient_id AND o.user_id = $1
       JOIN recipient r ON r.id = p.recipient_id
       WHERE p.user_id = $2 AND p.realm_id = $3
         AND length(r.direct_key) - length(replace(r.direct_key, ',', '')) + 1 >= $4
       ORDER BY p.recipient_id`,
    );
    this.directAfter = connection.values<RecipientId>(
      'SELECT id FROM recipient WHERE id > $1 AND realm_id = $2 AND channel_id IS NULL ORDER BY id LIMIT $3',
    );
    this.recent = connection.tuples<readonly [RecipientId, number]>(
      `SELECT recipient_id, last_message_id FROM direct_participant
       WHERE user_id = $1 AND last_message_id IS NOT NULL AND realm_id = $2
       ORDER BY last_message_id DESC LIMIT $3`,
    );
    this.insert = connection.values<RecipientId>(
      'INSERT INTO recipient (realm_id, direct_key) VALUES ($1, $2) RETURNING id',
    );
    this.insertParticipants = connection.command(
      'INSERT INTO direct_participant (recipient_id, user_id, realm_id) SELECT $1::bigint, unnest($3::bigint[]), $2::bigint',
    );
  }

  async list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>> {
    const rows = await this.rows.all(realmId, ids);
    return new Map(rows.map((row) => [row[0], toRecipient(realmId, row)]));
  }

  async findDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId | null> {
    return (await this.byPeople.get(realmId, peopleOf(userIds).join())) ?? null;
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
    const rows = await this.recent.all(userId, realmId, limit);
    return rows.map(([recipientId, lastMessageId]) => ({ recipientId, lastMessageId }));
  }

  async openDirect(realmId: RealmId, userIds: readonly UserId[]): Promise<RecipientId> {
    const participants = peopleOf(userIds);
    const existing = await this.byPeople.get(realmId, participants.join());
    if (existing !== undefined) return existing;
    const id = (await this.insert.get(realmId, participants.join()))!;
    this.insertParticipants.defer(id, realmId, participants);
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
  repositories: () => (connection) => ({ recipients: new PostgresRecipientRepository(connection) }),
} satisfies PostgresFeature;
