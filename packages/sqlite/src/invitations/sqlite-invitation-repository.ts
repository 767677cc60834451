import type { Invitation, InvitationKind, InvitationRepository } from '@parley/domain/invitations';
import type { Role } from '@parley/domain/permissions';
import type { ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '@parley/domain/shared';
import type { Connection } from '../connection.js';
import type { Quarantine } from '../quarantine.js';
import { type Flag, jsonList, listColumn, toFlag } from '../rows.js';

export class SqliteInvitationRepository implements InvitationRepository {
  private readonly row;
  private readonly open;
  private readonly openCount;
  private readonly insert;
  private readonly store;
  private readonly delete;
  private readonly letters;
  private readonly storeLetters;

  constructor(
    connection: Connection,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows<InvitationRow>('SELECT * FROM invitation WHERE id = ? AND realm_id = ?');
    const isOpen = "realm_id = ? AND status = 'open' AND (expires_at IS NULL OR expires_at > ?)";
    this.open = connection.rows<InvitationRow>(
      `SELECT * FROM invitation WHERE ${isOpen} AND inviter_id = coalesce(?, inviter_id) ORDER BY kind, id`,
    );
    this.openCount = connection.values<number>(`SELECT count(*) FROM invitation WHERE ${isOpen}`);
    this.insert = connection.values<number>(
      `INSERT INTO invitation (realm_id, kind, inviter_id, status, invited_at, expires_at, role, channel_ids, group_ids,
                               includes_default_channels, welcome_text, email, notifies_inviter)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.store = connection.command('UPDATE invitation SET status = ?, expires_at = ? WHERE id = ? AND realm_id = ?');
    this.delete = connection.command('DELETE FROM invitation WHERE id = ? AND realm_id = ?');
    this.letters = connection.values<number>('SELECT count FROM invitation_letters WHERE realm_id = ? AND day = ?');
    this.storeLetters = connection.command(
      `INSERT INTO invitation_letters (realm_id, day, count) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET count = iif(day = excluded.day, count, 0) + excluded.count, day = excluded.day`,
    );
  }

  async find(realmId: RealmId, id: number): Promise<Invitation | null> {
    const row = this.row.get(id, realmId);
    return row ? this.toInvitation(row) : null;
  }

  async listOpen(realmId: RealmId, now: UnixSeconds, inviterId: UserId | null): Promise<readonly Invitation[]> {
    return this.open.all(realmId, now, inviterId).map((row) => this.toInvitation(row));
  }

  async countOpen(realmId: RealmId, now: UnixSeconds): Promise<number> {
    return this.openCount.get(realmId, now)!;
  }

  async countLetters(realmId: RealmId, day: number): Promise<number> {
    return this.letters.get(realmId, day) ?? 0;
  }

  async add(invitation: Omit<Invitation, 'id'>): Promise<Invitation> {
    const id = this.insert.get(
      invitation.realmId,
      invitation.kind,
      invitation.inviterId,
      invitation.status,
      invitation.invitedAt,
      invitation.expiresAt,
      invitation.role,
      jsonList(invitation.channelIds),
      jsonList(invitation.groupIds),
      toFlag(invitation.includesDefaultChannels),
      invitation.welcomeText,
      invitation.email,
      toFlag(invitation.notifiesInviter),
    )!;
    return { ...invitation, id };
  }

  async update({ realmId, id, status, expiresAt }: Invitation): Promise<void> {
    this.store.run(status, expiresAt, id, realmId);
  }

  async remove(realmId: RealmId, id: number): Promise<void> {
    this.delete.run(id, realmId);
  }

  async addLetters(realmId: RealmId, day: number, count: number): Promise<void> {
    this.storeLetters.run(realmId, day, count);
  }

  private toInvitation(row: InvitationRow): Invitation {
    return {
      id: row.id,
      realmId: row.realm_id,
      kind: row.kind,
      inviterId: row.inviter_id,
      status: row.status,
      invitedAt: row.invited_at,
      expiresAt: row.expires_at,
      role: row.role,
      channelIds: channelIds(row.channel_ids, row.id, this.quarantine),
      groupIds: groupIds(row.group_ids, row.id, this.quarantine),
      includesDefaultChannels: row.includes_default_channels === 1,
      welcomeText: row.welcome_text,
      email: row.email,
      notifiesInviter: row.notifies_inviter === 1,
    };
  }
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value);
const channelIds = listColumn<ChannelId>('invitation', 'channel_ids', isId);
const groupIds = listColumn<GroupId>('invitation', 'group_ids', isId);

interface InvitationRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly kind: InvitationKind;
  readonly inviter_id: UserId;
  readonly status: Invitation['status'];
  readonly invited_at: UnixSeconds;
  readonly expires_at: UnixSeconds | null;
  readonly role: Role;
  readonly channel_ids: string;
  readonly group_ids: string;
  readonly includes_default_channels: Flag;
  readonly welcome_text: string | null;
  readonly email: string | null;
  readonly notifies_inviter: Flag;
}
