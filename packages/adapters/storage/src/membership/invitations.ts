import type { Role } from '@parley/domain/access';
import type { ChannelId, GroupId, RealmId, Seed, UnixSeconds, UserId } from '@parley/domain/kernel';
import type {
  Invitation,
  InvitationEntry,
  InvitationKind,
  InvitationRepository,
  NewInvitations,
} from '@parley/domain/membership';
import type { StorageFeature } from '../engine/feature.js';
import { OF_REALM } from '../engine/personal-data.js';
import type { Quarantine } from '../engine/quarantine.js';
import { ascending, type Flag, jsonList, listColumn, toFlag } from '../engine/rows.js';
import { newSeed } from '../engine/seeds.js';
import type { Statements } from '../engine/statements.js';

const ENTRY = `invitation.id, invitation.realm_id, kind, inviter_id, status, invited_at, expires_at, role, email,
  notifies_inviter, seed`;

export class SqlInvitationRepository implements InvitationRepository {
  private readonly row;
  private readonly open;
  private readonly openCount;
  private readonly insertOffer;
  private readonly insert;
  private readonly store;
  private readonly delete;
  private readonly deleteOffer;
  private readonly emails;
  private readonly storeEmails;

  constructor(
    private readonly connection: Statements,
    private readonly quarantine: Quarantine,
  ) {
    this.row = connection.rows<InvitationRow>(
      `SELECT ${ENTRY}, channel_ids, group_ids, includes_default_channels, welcome_text
       FROM invitation JOIN invitation_offer offer ON offer.id = offer_id
       WHERE invitation.id = ? AND invitation.realm_id = ?`,
    );
    const isOpen = "realm_id = ? AND status = 'open' AND (expires_at IS NULL OR expires_at > ?)";
    this.open = connection.rows<EntryRow>(
      `SELECT ${ENTRY} FROM invitation WHERE ${isOpen} AND inviter_id = coalesce(?, inviter_id) ORDER BY kind, id`,
    );
    this.openCount = connection.values<number>(`SELECT count(*) FROM invitation WHERE ${isOpen}`);
    this.insertOffer = connection.values<number>(
      `INSERT INTO invitation_offer (realm_id, channel_ids, group_ids, includes_default_channels, welcome_text)
       VALUES (?, ?, ?, ?, ?) RETURNING id`,
    );
    this.insert = connection.values<number>(
      `INSERT INTO invitation (realm_id, kind, inviter_id, status, invited_at, expires_at, role, notifies_inviter, offer_id,
                               seed, email)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, value FROM ${connection.dialect.elements('text')}
       ORDER BY key RETURNING id`,
    );
    this.store = connection.command('UPDATE invitation SET status = ?, expires_at = ? WHERE id = ? AND realm_id = ?');
    this.delete = connection.values<number>('DELETE FROM invitation WHERE id = ? AND realm_id = ? RETURNING offer_id');
    this.deleteOffer = connection.command(
      'DELETE FROM invitation_offer AS offer WHERE id = ? AND NOT EXISTS (SELECT 1 FROM invitation WHERE offer_id = offer.id)',
    );
    this.emails = connection.values<number>('SELECT count FROM invitation_letters WHERE realm_id = ? AND day = ?');
    this.storeEmails = connection.command(
      `INSERT INTO invitation_letters AS sent (realm_id, day, count) VALUES (?, ?, ?)
       ON CONFLICT (realm_id) DO UPDATE
       SET count = CASE WHEN sent.day = excluded.day THEN sent.count ELSE 0 END + excluded.count, day = excluded.day`,
    );
  }

  async find(realmId: RealmId, id: number): Promise<Invitation | null> {
    const row = await this.row.get(id, realmId);
    return row ? this.toInvitation(row) : null;
  }

  async listOpen(realmId: RealmId, now: UnixSeconds, inviterId: UserId | null): Promise<readonly InvitationEntry[]> {
    return (await this.open.all(realmId, now, inviterId)).map(toEntry);
  }

  async countOpen(realmId: RealmId, now: UnixSeconds): Promise<number> {
    return await this.openCount.one(realmId, now);
  }

  async countEmails(realmId: RealmId, day: number): Promise<number> {
    return (await this.emails.get(realmId, day)) ?? 0;
  }

  async add(invitations: NewInvitations, emails: readonly (string | null)[]): Promise<readonly Invitation[]> {
    const offerId = await this.insertOffer.one(
      invitations.realmId,
      jsonList(invitations.channelIds),
      jsonList(invitations.groupIds),
      toFlag(invitations.includesDefaultChannels),
      invitations.welcomeText,
    );
    // The id of each invitation makes its key different.
    const seed = newSeed();
    const ids = await this.insert.all(
      invitations.realmId,
      invitations.kind,
      invitations.inviterId,
      invitations.status,
      invitations.invitedAt,
      invitations.expiresAt,
      invitations.role,
      toFlag(invitations.notifiesInviter),
      offerId,
      seed,
      this.connection.dialect.set(emails),
    );
    // Ids are allocated in input order but may be returned in any order.
    ids.sort(ascending);
    return emails.map((email, index) => ({ ...invitations, email, id: ids[index]!, seed }));
  }

  async update({ realmId, id, status, expiresAt }: InvitationEntry): Promise<void> {
    this.store.defer(status, expiresAt, id, realmId);
  }

  async remove(realmId: RealmId, id: number): Promise<void> {
    const offerId = await this.delete.get(id, realmId);
    if (offerId !== undefined) this.deleteOffer.defer(offerId);
  }

  async addEmails(realmId: RealmId, day: number, count: number): Promise<void> {
    this.storeEmails.defer(realmId, day, count);
  }

  private toInvitation(row: InvitationRow): Invitation {
    return {
      ...toEntry(row),
      channelIds: channelIds(row.channel_ids, row.id, this.quarantine),
      groupIds: groupIds(row.group_ids, row.id, this.quarantine),
      includesDefaultChannels: row.includes_default_channels === 1,
      welcomeText: row.welcome_text,
    };
  }
}

const toEntry = (row: EntryRow): InvitationEntry => ({
  id: row.id,
  realmId: row.realm_id,
  kind: row.kind,
  inviterId: row.inviter_id,
  role: row.role,
  invitedAt: row.invited_at,
  expiresAt: row.expires_at,
  status: row.status,
  email: row.email,
  notifiesInviter: row.notifies_inviter === 1,
  seed: row.seed,
});

const isId = (value: unknown): boolean => Number.isSafeInteger(value);
const channelIds = listColumn<ChannelId>('invitation', 'channel_ids', isId);
const groupIds = listColumn<GroupId>('invitation', 'group_ids', isId);

interface EntryRow {
  readonly id: number;
  readonly realm_id: RealmId;
  readonly kind: InvitationKind;
  readonly inviter_id: UserId;
  readonly status: Invitation['status'];
  readonly invited_at: UnixSeconds;
  readonly expires_at: UnixSeconds | null;
  readonly role: Role;
  readonly email: string | null;
  readonly notifies_inviter: Flag;
  readonly seed: Seed;
}

interface InvitationRow extends EntryRow {
  readonly channel_ids: string;
  readonly group_ids: string;
  readonly includes_default_channels: Flag;
  readonly welcome_text: string | null;
}

const SEEDS = `
-- expand: links of lost invitations after a restore do not open later ones.
ALTER TABLE invitation ADD COLUMN seed {text};
`;

export const INVITATION_FEATURE = {
  schema: 'invitations',
  steps: { 67: SEEDS },
  realmTables: ['invitation', 'invitation_offer', 'invitation_letters'],
  persons: {
    invitation: {
      data: 'Invitations sent and received',
      fate: { ...OF_REALM, ends: ['deactivation', 'inherit'] },
      erase: 'inviter_id = {id} OR realm_id = {realm} AND lower(email) = lower({email})',
    },
    invitation_offer: {
      data: 'Welcome texts of invitations',
      fate: OF_REALM,
      erase: 'realm_id = {realm} AND NOT EXISTS (SELECT 1 FROM invitation i WHERE i.offer_id = invitation_offer.id)',
      mentions: ['welcome_text'],
    },
    invitation_letters: {},
  },
  notExported: {
    invitation: 'Links point to the original server.',
    invitation_offer: 'Links point to the original server.',
    invitation_letters: 'Links point to the original server.',
  },
  repositories:
    ({ quarantine }) =>
    (connection) => ({ invitations: new SqlInvitationRepository(connection, quarantine) }),
} satisfies StorageFeature;
