import { type Actor, isAdministrator } from '../access/actor.js';
import { isAtLeast, type Role } from '../access/role.js';
import { insufficientUnless, mustBeHuman, mustBeOwner, mustNotBeGuest } from '../access/role-rules.js';
import type { Channel } from '../channels/channel.js';
import { canReadActive } from '../channels/channel-access.js';
import { mayAddOthers } from '../channels/subscription-permissions.js';
import type { Group } from '../groups/group.js';
import { canInviteIntoGroup } from '../groups/group-permissions.js';
import type { ChannelId, UnixSeconds, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';

/** A link that many may use, or letters to addresses, each good for one person. */
export type InvitationKind = 'link' | 'email';

/** Somebody who may invite at all, whomever to what (organization §9.1 rows 1, 2 and 4, §9.3). */
export function canInvite(
  actor: Pick<Actor, 'role' | 'groups' | 'isBot'>,
  realm: Pick<Realm, 'permissions'>,
  kind: InvitationKind,
): Decision {
  const permission = kind === 'link' ? 'createMultiuseInvite' : 'canInviteUsers';
  return all(canUseInvitations(actor), insufficientUnless(hasRealmPermission(actor, realm, permission)));
}

/** Listing, revoking and sending again: inviters who have lost the permission still may (organization §9.2, §9.4). */
export const canUseInvitations = (actor: Pick<Actor, 'role' | 'isBot'>): Decision =>
  all(mustNotBeGuest(actor), mustBeHuman(actor));

/** Nobody invites others to a higher role than their own (organization §9.1 rows 5 and 6). */
export function canInviteAs(actor: Pick<Actor, 'role'>, role: Role): Decision {
  return all(
    role === 'owner' ? mustBeOwner(actor) : allowed,
    denyIf(!isAtLeast(actor.role, role), 'CANNOT_INVITE_WITH_ROLE', 'Must be an organization administrator'),
  );
}

/** A channel that newcomers shall be in, by the id that was given. */
export interface InvitationChannel {
  readonly id: ChannelId;
  /** Null: there is none. */
  readonly channel: Channel | null;
  /** The inviter. */
  readonly isSubscribed: boolean;
}

/**
 * Default channels always; of others, those that the inviter may add people to (organization §9.1 rows 7 and 8). All of
 * them have to be there before any is refused for lack of permission.
 */
export function canInviteIntoChannels(
  actor: Actor,
  realm: Pick<Realm, 'permissions'>,
  channels: readonly InvitationChannel[],
): Decision {
  const unknown = channels.find(
    ({ channel, isSubscribed }) => channel === null || !canReadActive(actor, channel, isSubscribed).allowed,
  );
  return all(
    unknown === undefined
      ? allowed
      : denied('UNKNOWN_CHANNEL', `Invalid channel ID ${unknown.id}. No invites were sent.`),
    denyIf(
      channels.some(({ channel }) => channel !== null && !channel.isDefault && !mayAddOthers(actor, realm, channel)),
      'CANNOT_SUBSCRIBE_OTHERS',
      'You do not have permission to subscribe other users to channels.',
    ),
  );
}

/** Null: there is no such group (organization §9.1 row 9). */
export function canInviteIntoGroups(
  actor: Actor,
  realm: Pick<Realm, 'permissions'>,
  groups: readonly (Group | null)[],
): Decision {
  return all(...groups.map((group) => canInviteIntoGroup(actor, realm, group)));
}

/** Only administrators greet newcomers in their own words; from others the text counts as not given (README decision 6). */
export const effectiveWelcomeText = (actor: Pick<Actor, 'role'>, text: string | null): string | null =>
  isAdministrator(actor) ? text : null;

const DAY = 86_400;
const MIN_AGE_DAYS = 3;

/** Where anybody can make an account, new ones could be made to send letters (organization §9.3, contract decision 24). */
export function isTooNewToInvite(
  actor: Pick<Actor, 'role'>,
  realm: Pick<Realm, 'settings'>,
  joinedAt: UnixSeconds,
  now: UnixSeconds,
): boolean {
  const isOpen = !realm.settings.inviteRequired;
  return isOpen && !isAdministrator(actor) && now - joinedAt < MIN_AGE_DAYS * DAY;
}

/** Whether they see everybody's invitations or only their own (organization §9.2). */
export const seesAllInvitations = (actor: Pick<Actor, 'role'>): boolean => isAdministrator(actor);

/** What of an invitation decides who may touch it. */
export interface InvitationRights {
  readonly kind: InvitationKind;
  /** Null: not recorded. */
  readonly inviterId: UserId | null;
  readonly role: Role;
  /** Links stay when they are revoked. */
  readonly isRevoked: boolean;
}

/** Revoking, or sending again (organization §9.4). Null: there is no such invitation. */
export function canChangeInvitation(
  actor: Pick<Actor, 'id' | 'role' | 'isBot'>,
  invitation: InvitationRights | null,
): Decision {
  return all(
    canUseInvitations(actor),
    denyIf(
      invitation === null || (invitation.kind === 'email' && (invitation.inviterId === null || invitation.isRevoked)),
      'UNKNOWN_INVITATION',
      'No such invitation',
    ),
    invitation === null || invitation.inviterId === actor.id ? allowed : mayChangeOthers(actor, invitation.role),
    denyIf(invitation?.isRevoked === true, 'INVITATION_REVOKED', 'Invitation has already been revoked'),
  );
}

const mayChangeOthers = (actor: Pick<Actor, 'role'>, role: Role): Decision =>
  role === 'owner'
    ? mustBeOwner(actor)
    : denyIf(!isAdministrator(actor), 'NOT_INVITER', 'Must be an organization administrator');
