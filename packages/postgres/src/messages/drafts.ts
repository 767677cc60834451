import type { ChannelId, DraftId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Draft, DraftRepository, NewDraft } from '@parley/domain/messages';
import { jsonList, listColumn, type Quarantine } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

interface DraftRow {
  readonly id: DraftId;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly channel_id: ChannelId | null;
  readonly user_ids: string | null;
  readonly topic: string;
  readonly content: string;
  readonly edited_at: UnixSeconds;
}

const COLUMNS = 'channel_id, user_ids, topic, content, edited_at';

const readUserIds = listColumn<UserId>('draft', 'user_ids', Number.isSafeInteger);

export class PostgresDraftRepository implements DraftRepository {
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly change;
  private readonly delete;
  private readonly deleteAll;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.byId = connection.rows<DraftRow>(`SELECT * FROM draft WHERE id = $1 AND user_id = $2 AND realm_id = $3`);
    this.ofUser = connection.rows<DraftRow>(
      `SELECT * FROM draft WHERE user_id = $1 AND realm_id = $2 ORDER BY edited_at DESC, id DESC LIMIT $3`,
    );
    this.countOfUser = connection.values<number>(`SELECT count(*) FROM draft WHERE user_id = $1 AND realm_id = $2`);
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content)), 0) FROM draft WHERE user_id = $1 AND realm_id = $2`,
    );
    this.insert = connection.values<DraftId>(
      `INSERT INTO draft (id, realm_id, user_id, ${COLUMNS})
       VALUES (coalesce($1, nextval(pg_get_serial_sequence('draft', 'id'))), $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
    );
    this.change = connection.command(
      `UPDATE draft SET channel_id = $1, user_ids = $2, topic = $3, content = $4, edited_at = $5 WHERE id = $6 AND user_id = $7 AND realm_id = $8`,
    );
    this.delete = connection.command(`DELETE FROM draft WHERE id = $1 AND user_id = $2 AND realm_id = $3`);
    this.deleteAll = connection.command(`DELETE FROM draft WHERE user_id = $1 AND realm_id = $2`);
  }

  async find(realmId: RealmId, userId: UserId, id: DraftId): Promise<Draft | null> {
    const row = await this.byId.get(id, userId, realmId);
    return row ? this.toDraft(row) : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Draft[]> {
    return (await this.ofUser.all(userId, realmId, limit)).map((row) => this.toDraft(row));
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.countOfUser.get(userId, realmId))!;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.bytesOfUser.get(userId, realmId))!;
  }

  async add(draft: NewDraft, reserved: DraftId | null = null): Promise<Draft> {
    const id = (await this.insert.get(reserved, draft.realmId, draft.userId, ...changeable(draft)))!;
    return { id, ...draft };
  }

  async update(draft: Draft): Promise<void> {
    this.change.defer(...changeable(draft), draft.id, draft.userId, draft.realmId);
  }

  async remove(realmId: RealmId, userId: UserId, id: DraftId): Promise<void> {
    this.delete.defer(id, userId, realmId);
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    this.deleteAll.defer(userId, realmId);
  }

  private toDraft(row: DraftRow): Draft {
    const { id, realm_id, user_id, content, edited_at } = row;
    return { id, realmId: realm_id, userId: user_id, to: this.toAddressee(row), content, editedAt: edited_at };
  }

  private toAddressee({ id, channel_id, user_ids, topic }: DraftRow): Draft['to'] {
    if (channel_id !== null) return { kind: 'channel', channelId: channel_id, topic };
    if (user_ids === null) return { kind: 'nobody' };
    return { kind: 'direct', userIds: readUserIds(user_ids, id, this.quarantine) };
  }
}

const changeable = ({ to, content, editedAt }: NewDraft) =>
  [
    to.kind === 'channel' ? to.channelId : null,
    to.kind === 'direct' ? jsonList(to.userIds) : null,
    to.kind === 'channel' ? to.topic : '',
    content,
    editedAt,
  ] as const;

export const DRAFT_FEATURE = {
  schema: 'drafts',
  realmTables: ['draft'],
  repositories:
    ({ quarantine }) =>
    (connection) => ({ drafts: new PostgresDraftRepository(connection, quarantine) }),
} satisfies PostgresFeature;
