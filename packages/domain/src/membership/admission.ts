import type { ApiKeyMint } from '../access/credentials.js';
import type { Channel } from '../channels/channel.js';
import { MAX_MEMBERSHIPS } from '../groups/group.js';
import { wholeRealm } from '../kernel/event.js';
import type { DefaultChannelGroupId, UnixSeconds } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { SystemMessages } from '../writing/system-messages.js';
import { addUser, type NewUser } from './add-user.js';
import { endInvitation, publishInvitations, withPresentOffer } from './invitation-changes.js';
import type { Invitation, InvitationOffer } from './invitations.js';
import { attachHistory } from './joining-history.js';
import { OPEN_OFFER, planWelcomeEmail } from './sign-up.js';
import type { StatedRole } from './stated-roles.js';

export interface Newcomer extends Omit<NewUser, 'role' | 'channels'> {
  /** Role stated by a service or directory. Without one or without a match, the invitation determines the role. */
  readonly role: StatedRole | null;
  /** Null if anyone may join. */
  readonly invitation: Invitation | null;
  /** Default channel groups to join; deleted ones are ignored. */
  readonly defaultChannelGroupIds?: readonly DefaultChannelGroupId[];
  /** Parsed welcome message of the invitation. */
  readonly words: Awaited<ReturnType<SystemMessages['parseWelcome']>>;
}

/** Creates the accounts of newcomers and welcomes them. */
export class Admission {
  static readonly inject = ['apiKeyMint', SystemMessages, 'clock'] as const;
  constructor(
    private readonly mint: ApiKeyMint,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /** Parses the welcome message of the invitation, before the unit of work. */
  parseWelcome(realm: Realm, invitation: Invitation | null): Promise<Newcomer['words']> {
    return this.systemMessages.parseWelcome(realm, (invitation ?? OPEN_OFFER).welcomeText);
  }

  /** Creates the account offered by an invitation, and marks an email invitation as used (organization §10.3, §10.4). */
  async admit(
    tx: Transaction,
    realm: Realm,
    { invitation, role, defaultChannelGroupIds = [], words, ...person }: Newcomer,
  ): Promise<User> {
    const { systemMessages } = this;
    const now = this.clock.now();
    const offer = invitation ?? OPEN_OFFER;
    const channels = await channelsOf(tx, realm, offer, defaultChannelGroupIds);
    const takesRole = role !== null && !(invitation && role.sparesGuests);
    const user = await this.add(tx, realm, { ...person, role: takesRole ? role.role : offer.role, channels });
    await joinGroups(tx, offer, user);
    await attachHistory(tx, channels, user);
    if (invitation?.kind === 'email') {
      await endInvitation(tx, invitation, 'used', now);
      await publishInvitations(tx, realm.id, invitation.inviterId);
      await notifyInviter(tx, realm, invitation, user, systemMessages);
    }
    await systemMessages.announceSignup(tx, realm, user);
    await systemMessages.sendWelcome(tx, realm, user, words);
    if (realm.settings.sendWelcomeEmails) await planWelcomeEmail(tx, user, now);
    return user;
  }

  /** Creates an account without invitation or welcome. */
  add(tx: Transaction, realm: Realm, person: NewUser): Promise<User> {
    return addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
  }

  async apiKeyOf(tx: Transaction, { realmId, id }: User): Promise<string> {
    return this.mint.derive((await tx.apiKeys.find(realmId, id))!);
  }
}

/** Returns the newest valid email invitation for the address, limited to what its inviter may still offer. */
export async function findEmailInvitation(
  reads: Repositories | Transaction,
  realm: Realm,
  email: string,
  now: UnixSeconds,
): Promise<Invitation | null> {
  const open = await reads.invitations.listOpen(realm.id, now, null);
  const matching = open.filter((it) => it.email !== null && foldCase(it.email) === foldCase(email));
  for (const { id } of matching.reverse()) {
    const stored = await reads.invitations.find(realm.id, id);
    const invitation = stored && (await withPresentOffer(reads, realm, stored));
    if (invitation) return invitation;
  }
  return null;
}

async function notifyInviter(
  tx: Transaction,
  realm: Realm,
  { notifiesInviter, inviterId }: Invitation,
  user: User,
  systemMessages: SystemMessages,
): Promise<void> {
  if (!notifiesInviter) return;
  const inviter = await tx.users.find(realm.id, inviterId);
  if (!inviter?.isActive) return;
  const text = `${silentMention(user)} accepted your invitation to join Zulip!`;
  await systemMessages.sendDirect(tx, realm, inviter, text, { actor: null });
}

/** Returns the active channels from the invitation, the default channels and the chosen groups (organization §10.3). */
async function channelsOf(
  tx: Transaction,
  realm: Realm,
  offer: InvitationOffer,
  groupIds: readonly DefaultChannelGroupId[],
): Promise<readonly Channel[]> {
  const chosen = groupIds.length === 0 ? [] : await tx.defaultChannelGroups.list(realm.id);
  const ids = chosen.filter(({ id }) => groupIds.includes(id)).flatMap(({ channelIds }) => channelIds);
  const named = await tx.channels.list(realm.id, [...new Set([...offer.channelIds, ...ids])]);
  const defaults = offer.includesDefaultChannels ? await tx.channels.listDefaults(realm.id) : [];
  const byId = new Map([...named, ...defaults].map((channel) => [channel.id, channel]));
  return [...byId.values()].filter(({ isArchived }) => !isArchived).sort((a, b) => a.id - b.id);
}

/** Skips groups beyond the maximum number of memberships. */
async function joinGroups(tx: Transaction, { groupIds }: InvitationOffer, { id, realmId }: User): Promise<void> {
  for (const group of await tx.groups.list(realmId, groupIds)) {
    if (group.isDeactivated) continue;
    if ((await tx.groups.countMemberships(realmId)) >= MAX_MEMBERSHIPS) return;
    const added = await tx.groups.addMembers(realmId, group.id, [id]);
    if (added.length === 0) continue;
    await tx.events.append(realmId, {
      event: { type: 'group.members_changed', op: 'add', groupId: group.id, userIds: [id] },
      audience: wholeRealm,
    });
  }
}
