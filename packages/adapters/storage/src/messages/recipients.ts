import type { ChannelId, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { Recipient, RecipientRepository } from '@parley/domain/messages';
import { ascending } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';
import type { Spans } from './spans.js';

export class SqlRecipientRepository implements RecipientRepository {
  private readonly rows;
  private readonly byPeople;
  private readonly shared;
  private readonly recent;
  private readonly directAfter;
  private readonly insert;
  private readonly insertParticipants;

  constructor(
    private readonly statements: Statements,
    private readonly spans: Spans,
  ) {
    const { inSet, elements, indexedBy } = statements.dialect;
    this.rows = statements.tuples<RecipientRow>(
      `SELECT id, channel_id, direct_key FROM recipient WHERE +realm_id = ? AND id ${inSet}`,
    );
    this.byPeople = statements.values<RecipientId>('SELECT id FROM recipient WHERE realm_id = ? AND direct_key = ?');
    // A conversation has one participant more than commas in its key. CROSS JOIN keeps this order in SQLite.
    this.shared = statements.values<RecipientId>(
      `SELECT p.recipient_id FROM direct_participant p ${indexedBy('direct_participant_recent')}
       CROSS JOIN direct_participant o CROSS JOIN recipient r
       WHERE o.recipient_id = p.recipient_id AND o.user_id = ? AND r.id = p.recipient_id
         AND p.user_id = ? AND p.realm_id = ?
         AND length(r.direct_key) - length(replace(r.direct_key, ',', '')) + 1 >= ?
       ORDER BY p.recipient_id`,
    );
    this.directAfter = statements.values<RecipientId>(
      `SELECT id FROM recipient ${indexedBy('recipient_direct')}
       WHERE id > ? AND realm_id = ? AND channel_id IS NULL ORDER BY id LIMIT ? + 0`,
    );
    this.recent = statements.tuples<readonly [RecipientId, number]>(
      `SELECT recipient_id, last_message_id FROM direct_participant ${indexedBy('direct_participant_recent')}
       WHERE user_id = ? AND last_message_id IS NOT NULL AND realm_id = ?
       ORDER BY last_message_id DESC LIMIT ? + 0`,
    );
    this.insert = statements.values<RecipientId>(
      'INSERT INTO recipient (realm_id, direct_key) VALUES (?, ?) RETURNING id',
    );
    this.insertParticipants = statements.command(
      `INSERT INTO direct_participant (recipient_id, user_id, realm_id)
       SELECT CAST(? AS bigint), value, CAST(? AS bigint) FROM ${elements('bigint')}`,
    );
  }

  async list(realmId: RealmId, ids: readonly RecipientId[]): Promise<ReadonlyMap<RecipientId, Recipient>> {
    const rows = await this.rows.all(realmId, this.statements.dialect.set(ids));
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
    return await this.shared.all(otherId, userId, realmId, atLeastUsers);
  }

  async listDirect(realmId: RealmId, after: number, limit: number): Promise<readonly RecipientId[]> {
    return await this.directAfter.all(after, realmId, limit);
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
    const id = await this.insert.one(realmId, participants.join());
    this.insertParticipants.defer(id, realmId, this.statements.dialect.set(participants));
    this.spans.open(realmId, [id], participants);
    return id;
  }
}

type RecipientRow = readonly [id: RecipientId, channelId: ChannelId | null, directKey: string | null];

/** Returns ids ascending without duplicates. */
const peopleOf = (userIds: readonly UserId[]): UserId[] => [...new Set(userIds)].sort(ascending);

function toRecipient(realmId: RealmId, [id, channelId, directKey]: RecipientRow): Recipient {
  return channelId !== null
    ? { kind: 'channel', id, realmId, channelId }
    : { kind: 'direct', id, realmId, userIds: directKey!.split(',').map((userId) => Number(userId) as UserId) };
}
