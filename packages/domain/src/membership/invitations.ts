import {
  type Actor,
  insufficientUnless,
  isAdministrator,
  mustBeHuman,
  mustBeOwner,
  mustNotBeGuest,
} from '../access/actor.js';
import { isAtLeast, type Role } from '../access/roles.js';
import type { Channel } from '../channels/channel.js';
import { canReadActive } from '../channels/channel-access.js';
import { mayAddOthers } from '../channels/channel-permissions.js';
import type { Group } from '../groups/group.js';
import { canInviteIntoGroup } from '../groups/group-permissions.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { Caller, ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { all, allowed, type Decision, denied, denyIf, enforce } from '../kernel/permission.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { type AddressFault, addressFaultText } from '../users/change-email.js';

/** What somebody who accepts an invitation gets (organization §9.1). */
export interface InvitationOffer {
  readonly role: Role;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
  /** And those that are default channels when it is accepted. */
  readonly includesDefaultChannels: boolean;
  /** Null: the organization's own; `''`: none. */
  readonly welcomeText: string | null;
}

/** As it is listed. Its key is derived from the id, and kept nowhere: see `LinkKeys`. */
export interface InvitationEntry {
  /** Of either kind; no other one on the server has had it. */
  readonly id: number;
  readonly realmId: RealmId;
  readonly kind: InvitationKind;
  readonly inviterId: UserId;
  readonly role: Role;
  readonly invitedAt: UnixSeconds;
  /** Null: never. */
  readonly expiresAt: UnixSeconds | null;
  /** Links are never used up. */
  readonly status: 'open' | 'used' | 'revoked';
  /** Null: a link, for whoever has it. */
  readonly email: string | null;
  /** Whether the inviter is notified when it is accepted. Nobody is for links. */
  readonly notifiesInviter: boolean;
}

/** With all that it offers, which may be thousands of channels. */
export interface Invitation extends InvitationEntry, InvitationOffer {}

/** Invitations that are made together. */
export type NewInvitations = Omit<Invitation, 'id' | 'email'>;

/** Not expired, used or revoked. */
export const isOpen = (
  { status, expiresAt }: Pick<InvitationEntry, 'status' | 'expiresAt'>,
  now: UnixSeconds,
): boolean => status === 'open' && (expiresAt === null || expiresAt > now);

/** Of an organization, open ones: all are listed together. */
export const MAX_OPEN_INVITATIONS = 5000;
/** In one request. */
export const MAX_INVITEES = 1000;
/** That an organization has sent in one day (UTC), those sent again included. */
export const MAX_INVITATION_LETTERS_PER_DAY = 1000;
/** For so long whoever comes too late gets an answer that says so; then the key is unknown. */
export const KEEP_ENDED_SECONDS = 30 * 86_400;

/** @throws DomainError TOO_MANY_INVITATIONS */
export function requireRoomForInvitations(open: number, more: number): void {
  if (open + more <= MAX_OPEN_INVITATIONS) return;
  throw new DomainError('TOO_MANY_INVITATIONS', `Too many invitations (limit: ${MAX_OPEN_INVITATIONS}).`);
}

/**
 * The addresses of a list that commas and line breaks separate; of `Name <address>` the address; each once, whatever the
 * letter case. @throws DomainError INVITEES_REQUIRED, TOO_MANY_INVITEES
 */
export function parseInvitees(text: string): readonly string[] {
  const addresses = new Map<string, string>();
  for (const piece of text.split(/[,\r\n]/)) {
    const open = piece.lastIndexOf('<');
    const close = piece.lastIndexOf('>');
    const address = trim(open >= 0 && close > open ? piece.slice(open + 1, close) : piece);
    if (address !== '' && !addresses.has(foldCase(address))) addresses.set(foldCase(address), address);
  }
  if (addresses.size === 0) {
    throw new DomainError('INVITEES_REQUIRED', 'You must specify at least one email address.');
  }
  if (addresses.size > MAX_INVITEES) {
    throw new DomainError('TOO_MANY_INVITEES', `Too many email addresses (limit: ${MAX_INVITEES}).`);
  }
  return [...addresses.values()];
}

const DAY_SECONDS = 86_400;
const REMINDED_BEFORE_SECONDS = 2 * DAY_SECONDS;
const REMINDED_FROM_SECONDS = 4 * DAY_SECONDS;

/** When somebody who was invited by mail is reminded (organization §9.3); null: never. */
export function reminderAt({
  invitedAt,
  expiresAt,
}: Pick<InvitationEntry, 'invitedAt' | 'expiresAt'>): UnixSeconds | null {
  if (expiresAt === null || expiresAt - invitedAt < REMINDED_FROM_SECONDS) return null;
  return expiresAt - REMINDED_BEFORE_SECONDS;
}

/** The day, as letters are counted by. */
export const dayOf = (now: UnixSeconds): number => Math.floor(now / DAY_SECONDS);

export interface InvitationReads {
  /** Of another organization: null. */
  find(realmId: RealmId, id: number): Promise<Invitation | null>;
  /** Open ones; those by mail first; ascending id. `inviterId`: only theirs. */
  listOpen(realmId: RealmId, now: UnixSeconds, inviterId: UserId | null): Promise<readonly InvitationEntry[]>;
  countOpen(realmId: RealmId, now: UnixSeconds): Promise<number>;
  /** That were sent that day. */
  countLetters(realmId: RealmId, day: number): Promise<number>;
}

/** Every implementation passes invitation-repository.contract.ts. */
export interface InvitationRepository extends InvitationReads {
  /** One for each address, of which null is a link; in their order, ascending ids. What they offer is stored once. */
  add(given: NewInvitations, emails: readonly (string | null)[]): Promise<readonly Invitation[]>;
  /** `expiresAt` and `status` alone. */
  update(invitation: InvitationEntry): Promise<void>;
  remove(realmId: RealmId, id: number): Promise<void>;
  /** Forgets earlier days. */
  addLetters(realmId: RealmId, day: number, count: number): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    invitations: [reads: InvitationReads, repository: InvitationRepository];
  }
}

export interface InvitationEventTypes {
  /** To administrators and the inviter, who look anew (organization §9.6). */
  'invitations.changed': unknown;
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends InvitationEventTypes {}
}

export const INVITATION_FEATURE = {
  eventFormats: { 'invitations.changed': 1 },
  notExported: {
    invitations: 'Their links are secrets.',
  },
} satisfies FeatureParts<InvitationEventTypes>;

export const INVITATION_ERRORS = declareErrors({
  /** Of the wrong length. */
  INVALID_INVITATION_KEY: 'invalid',
  UNKNOWN_INVITATION: 'unknown',
  /** Or revoked, or used. */
  INVITATION_EXPIRED: 'conflict',
  /** Only those who were invited join. */
  INVITATION_REQUIRED: 'forbidden',
  /** The address has to be confirmed by mail first. */
  EMAIL_UNCONFIRMED: 'conflict',
  /** No address is given. */
  INVITEES_REQUIRED: 'invalid',
  TOO_MANY_INVITEES: 'invalid',
  TOO_MANY_INVITATIONS: 'conflict',
  INVITATION_REVOKED: 'conflict',
  CANNOT_INVITE_WITH_ROLE: 'forbidden',
  NOT_INVITER: 'forbidden',
  CANNOT_SUBSCRIBE_OTHERS: 'forbidden',
  INVITATION_FAILED: 'conflict',
});

type InvitationErrors = typeof INVITATION_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends InvitationErrors {}

  interface ErrorDetails {
    INVITATION_FAILED: {
      readonly errors: readonly InvitationError[];
      readonly sentInvitations: boolean;
      readonly licenseLimitReached: boolean;
      readonly dailyLimitReached: boolean;
    };
  }
}

/** Where somebody who has a link joins (organization §9.1). `realmUrl` without a slash at the end. */
export const invitationLink = (realmUrl: string, key: string): string => `${realmUrl}/join/${key}/`;

export interface InvitationConfig {
  /** How long invitations are good for that say nothing about it, in minutes; null: for ever. */
  readonly defaultValidityMinutes: number | null;
  /** Whether the server sends mail by which those who come by a link confirm their address. */
  readonly confirmsAddresses: boolean;
}

/** Further away than anybody waits, and still a time that storage holds exactly. */
const MAX_SECONDS = 10_000 * 365 * 86_400;

/**
 * When an invitation ends. What is 0 or negative makes one that has ended already (organization §9.1).
 * @param minutes Null: never; undefined: as the server has it
 */
export function expiryOf(
  minutes: number | null | undefined,
  { defaultValidityMinutes }: InvitationConfig,
  now: UnixSeconds,
): UnixSeconds | null {
  const validity = minutes === undefined ? defaultValidityMinutes : minutes;
  return validity === null ? null : now + Math.max(-MAX_SECONDS, Math.min(validity * 60, MAX_SECONDS));
}

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

/** What somebody invited by mail turned out to be. The last three cannot be invited; the others but `new` refuse all. */
export type InviteeState = 'new' | 'malformed' | AddressFault | 'hasAccount' | 'isDeactivated' | 'isSystemBot';

export interface Invitee {
  /** As it was typed, without a name around it. */
  readonly email: string;
  readonly state: InviteeState;
}

/** Why an address was not invited. */
export interface InvitationError {
  readonly email: string;
  readonly message: string;
  /** Whether an account with this address was deactivated. */
  readonly isDeactivated: boolean;
}

export interface InvitationOutcome {
  /** To be sent, in the given order. */
  readonly invited: readonly string[];
  /** To be enforced once these invitations are committed: refusing some does not undo the others. */
  readonly decision: Decision;
}

/** Organization §9.3, the group INVITATION_FAILED, after the checks of the request. `isTooNew`: `isTooNewToInvite`. */
export function judgeInvitees(
  invitees: readonly Invitee[],
  { hasReachedDailyLimit, isTooNew }: { readonly hasReachedDailyLimit: boolean; readonly isTooNew: boolean },
): InvitationOutcome {
  if (hasReachedDailyLimit) {
    return nobody(
      'To protect users, Zulip limits the number of invitations you can send in one day. ' +
        'Because you have reached the limit, no invitations were sent.',
      [],
      true,
    );
  }
  if (isTooNew) {
    return nobody(
      'Your account is too new to send invites for this organization. ' +
        'Ask an organization admin, or a more experienced user.',
      [],
    );
  }
  const bad: InvitationError[] = [];
  const skipped: InvitationError[] = [];
  for (const { email, state } of invitees) {
    if (state === 'new') continue;
    const list = isSkipped(state) ? skipped : bad;
    list.push({ email, message: errorText(email, state), isDeactivated: state === 'isDeactivated' });
  }
  if (bad.length > 0) {
    return nobody("Some emails did not validate, so we didn't send any invitations.", [...bad, ...skipped]);
  }
  const invited = invitees.filter(({ state }) => state === 'new').map(({ email }) => email);
  if (invited.length === 0) return nobody("We weren't able to invite anyone.", skipped);
  if (skipped.length === 0) return { invited, decision: allowed };
  const message =
    "Some of those addresses are already using Zulip, so we didn't send them an invitation. " +
    'We did send invitations to everyone else!';
  return { invited, decision: failed(message, skipped, { sentInvitations: true }) };
}

const nobody = (message: string, errors: readonly InvitationError[], dailyLimitReached = false): InvitationOutcome => ({
  invited: [],
  decision: failed(message, errors, { dailyLimitReached }),
});

const failed = (
  message: string,
  errors: readonly InvitationError[],
  { sentInvitations = false, dailyLimitReached = false }: { sentInvitations?: boolean; dailyLimitReached?: boolean },
): Decision =>
  // Nothing here is sold by the seat.
  denied('INVITATION_FAILED', message, { errors, sentInvitations, licenseLimitReached: false, dailyLimitReached });

const SKIPPED_TEXTS = {
  hasAccount: 'Already has an account.',
  isDeactivated: 'Account has been deactivated.',
  isSystemBot: 'Reserved for system bots.',
} as const satisfies Partial<Record<InviteeState, string>>;

const isSkipped = (state: InviteeState): state is keyof typeof SKIPPED_TEXTS => state in SKIPPED_TEXTS;

function errorText(email: string, state: Exclude<InviteeState, 'new'>): string {
  if (state === 'malformed') return 'Invalid address.';
  return isSkipped(state) ? SKIPPED_TEXTS[state] : addressFaultText('invitation', email, state);
}

/**
 * One that the caller may revoke or send again (organization §9.4).
 * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER, INVITATION_REVOKED
 */
export async function loadChangeable(
  tx: Transaction,
  caller: Caller,
  { kind, id }: { readonly kind: InvitationKind; readonly id: number },
): Promise<Invitation> {
  const actor = await tx.actors.get(caller);
  const found = await tx.invitations.find(caller.realmId, id);
  // Ids are those of a kind; what was accepted is nobody's to change.
  const invitation = found?.kind === kind && found.status !== 'used' ? found : null;
  enforce(canChangeInvitation(actor, invitation && { ...invitation, isRevoked: invitation.status === 'revoked' }));
  return invitation!;
}
