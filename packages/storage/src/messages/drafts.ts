import type { ChannelId, DraftId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Draft, DraftRepository, NewDraft } from '@parley/domain/messages';
import type { StorageFeature } from '../feature.js';
import type { Quarantine } from '../quarantine.js';
import { jsonList, listColumn } from '../rows.js';
import type { Statements } from '../statements.js';

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

const OF_USER = 'user_id = ? AND realm_id = ?';

export class SqlDraftRepository implements DraftRepository {
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly change;
  private readonly delete;
  private readonly deleteAll;

  constructor(
    connection: Statements,
    private readonly quarantine: Quarantine,
  ) {
    this.byId = connection.rows<DraftRow>(`SELECT * FROM draft WHERE id = ? AND ${OF_USER}`);
    this.ofUser = connection.rows<DraftRow>(
      `SELECT * FROM draft WHERE ${OF_USER} ORDER BY edited_at DESC, id DESC LIMIT ? + 0`,
    );
    this.countOfUser = connection.values<number>(`SELECT count(*) FROM draft WHERE ${OF_USER}`);
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content)), 0) FROM draft WHERE ${OF_USER}`,
    );
    this.insert = connection.values<DraftId>(
      `INSERT INTO draft (id, realm_id, user_id, ${COLUMNS})
       VALUES (coalesce(?, ${connection.dialect.nextId('draft')}), ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.change = connection.command(
      `UPDATE draft SET channel_id = ?, user_ids = ?, topic = ?, content = ?, edited_at = ? WHERE id = ? AND ${OF_USER}`,
    );
    this.delete = connection.command(`DELETE FROM draft WHERE id = ? AND ${OF_USER}`);
    this.deleteAll = connection.command(`DELETE FROM draft WHERE ${OF_USER}`);
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
    (connection) => ({ drafts: new SqlDraftRepository(connection, quarantine) }),
} satisfies StorageFeature;
