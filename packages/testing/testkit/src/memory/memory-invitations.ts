import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Invitation, InvitationEntry, InvitationRepository, NewInvitations } from '@parley/domain/membership';
import { ascending, keyOf, type MemoryUnit, newSeed } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly invitations: Map<number, Invitation>;
    /** Number of emails by realm and day. */
    readonly invitationEmails: Map<string, number>;
  }
}

export class MemoryInvitations implements InvitationRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: number): Promise<Invitation | null> {
    const invitation = this.unit.read('invitations').get(id);
    return invitation?.realmId === realmId ? invitation : null;
  }

  async listOpen(realmId: RealmId, now: UnixSeconds, inviterId: UserId | null): Promise<readonly InvitationEntry[]> {
    return this.open(realmId, now)
      .filter((invitation) => inviterId === null || invitation.inviterId === inviterId)
      .sort((a, b) => ascending(Number(a.kind === 'link'), Number(b.kind === 'link')) || ascending(a.id, b.id))
      .map(({ channelIds, groupIds, includesDefaultChannels, welcomeText, ...entry }) => entry);
  }

  async countOpen(realmId: RealmId, now: UnixSeconds): Promise<number> {
    return this.open(realmId, now).length;
  }

  async countEmails(realmId: RealmId, day: number): Promise<number> {
    return this.unit.read('invitationEmails').get(keyOf(realmId, day)) ?? 0;
  }

  async add(shared: NewInvitations, emails: readonly (string | null)[]): Promise<readonly Invitation[]> {
    const seed = newSeed();
    const added = emails.map((email) => ({ ...shared, email, seed, id: this.unit.nextNumber('invitation') }));
    const invitations = this.unit.change('invitations');
    for (const invitation of added) invitations.set(invitation.id, invitation);
    return added;
  }

  async update({ realmId, id, expiresAt, status }: InvitationEntry): Promise<void> {
    const before = await this.find(realmId, id);
    if (before) this.unit.change('invitations').set(id, { ...before, expiresAt, status });
  }

  async remove(realmId: RealmId, id: number): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('invitations').delete(id);
  }

  async addEmails(realmId: RealmId, day: number, count: number): Promise<void> {
    const total = (await this.countEmails(realmId, day)) + count;
    const emails = this.unit.change('invitationEmails');
    for (const key of emails.keys()) if (key.startsWith(`${realmId}:`)) emails.delete(key);
    emails.set(keyOf(realmId, day), total);
  }

  private open(realmId: RealmId, now: UnixSeconds): Invitation[] {
    return [...this.unit.read('invitations').values()].filter(
      (each) => each.realmId === realmId && each.status === 'open' && (each.expiresAt === null || each.expiresAt > now),
    );
  }
}
