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
import type { Seed } from '../kernel/ports.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import { type AddressFault, addressFaultText } from '../users/change-email.js';

/** Role and memberships granted on acceptance (organization §9.1). */
export interface InvitationOffer {
  readonly role: Role;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
  /** Adds the channels that are default channels at the time of acceptance. */
  readonly includesDefaultChannels: boolean;
  /** Null: the realm's welcome message; `''`: no welcome message. */
  readonly welcomeText: string | null;
}

/** List view of an invitation. The key of its link is derived and never stored; see `LinkKeys`. */
export interface InvitationEntry {
  /** Unique on the server across both kinds. */
  readonly id: number;
  readonly realmId: RealmId;
  readonly kind: InvitationKind;
  readonly inviterId: UserId;
  readonly role: Role;
  readonly invitedAt: UnixSeconds;
  /** Null if it never expires. */
  readonly expiresAt: UnixSeconds | null;
  /** Links never become `used`. */
  readonly status: 'open' | 'used' | 'revoked';
  /** Null for links. */
  readonly email: string | null;
  /** True if the inviter is notified on acceptance; always false for links. */
  readonly notifiesInviter: boolean;
  readonly seed: Seed;
}

/** Invitation with its full offer, which may list thousands of channels. */
export interface Invitation extends InvitationEntry, InvitationOffer {}

/** Template for invitations created together. */
export type NewInvitations = Omit<Invitation, 'id' | 'email' | 'seed'>;

/** True if the invitation is not expired, used or revoked. */
export const isOpen = (
  { status, expiresAt }: Pick<InvitationEntry, 'status' | 'expiresAt'>,
  now: UnixSeconds,
): boolean => status === 'open' && (expiresAt === null || expiresAt > now);

/** Maximum number of open invitations per realm. One response lists all of them. */
export const MAX_OPEN_INVITATIONS = 5000;
/** Maximum number of invitees per request. */
export const MAX_INVITEES = 1000;
/** Maximum number of invitation emails a realm sends per UTC day, including resends. */
export const MAX_INVITATION_EMAILS_PER_DAY = 1000;
/** Time during which an expired link is reported as such before its key becomes unknown. */
export const KEEP_ENDED_SECONDS = 30 * 86_400;

/** @throws DomainError TOO_MANY_INVITATIONS */
export function requireRoomForInvitations(open: number, more: number): void {
  if (open + more <= MAX_OPEN_INVITATIONS) return;
  throw new DomainError('TOO_MANY_INVITATIONS', `Too many invitations (limit: ${MAX_OPEN_INVITATIONS}).`);
}

/**
 * Splits the list at commas and line breaks and extracts the address from `Name <address>`. Removes case-insensitive
 * duplicates. @throws DomainError INVITEES_REQUIRED, TOO_MANY_INVITEES
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

/** Returns the time of the reminder email (organization §9.3); null if none is sent. */
export function reminderAt({
  invitedAt,
  expiresAt,
}: Pick<InvitationEntry, 'invitedAt' | 'expiresAt'>): UnixSeconds | null {
  if (expiresAt === null || expiresAt - invitedAt < REMINDED_FROM_SECONDS) return null;
  return expiresAt - REMINDED_BEFORE_SECONDS;
}

/** Returns the UTC day by which emails are counted. */
export const dayOf = (now: UnixSeconds): number => Math.floor(now / DAY_SECONDS);

export interface InvitationReads {
  /** Returns null for another organization. */
  find(realmId: RealmId, id: number): Promise<Invitation | null>;
  /**
   * Lists open invitations, email invitations first, then by ascending id. `inviterId` restricts the list to one
   * inviter.
   */
  listOpen(realmId: RealmId, now: UnixSeconds, inviterId: UserId | null): Promise<readonly InvitationEntry[]>;
  countOpen(realmId: RealmId, now: UnixSeconds): Promise<number>;
  /** Returns the number of invitation emails sent on that day. */
  countEmails(realmId: RealmId, day: number): Promise<number>;
}

/** Every implementation passes invitation-repository.contract.ts. */
export interface InvitationRepository extends InvitationReads {
  /**
   * Creates one invitation per email, or a link for null. Returns them in input order with ascending ids. The shared
   * offer is stored once. They get new seeds.
   */
  add(invitations: NewInvitations, emails: readonly (string | null)[]): Promise<readonly Invitation[]>;
  /** Updates only `expiresAt` and `status`. */
  update(invitation: InvitationEntry): Promise<void>;
  remove(realmId: RealmId, id: number): Promise<void>;
  /** Deletes the counts of earlier days. */
  addEmails(realmId: RealmId, day: number, count: number): Promise<void>;
}

export interface InvitationEventTypes {
  /** Sent to administrators and the inviter, whose clients refetch the list (organization §9.6). */
  'invitations.changed': unknown;
}

export const INVITATION_FEATURE = {
  eventFormats: { 'invitations.changed': 1 },
  notExported: {
    invitations: 'Their links are secrets.',
  },
} satisfies FeatureParts<InvitationEventTypes>;

export const INVITATION_ERRORS = declareErrors({
  /** The key has an invalid format. */
  INVALID_INVITATION_KEY: 'invalid',
  /** The invitation does not exist. */
  UNKNOWN_INVITATION: 'unknown',
  /** The invitation has expired, was revoked, or was used. */
  INVITATION_EXPIRED: 'conflict',
  /** Only invited users may join. */
  INVITATION_REQUIRED: 'forbidden',
  /** The address must be confirmed by email first. */
  EMAIL_UNCONFIRMED: 'conflict',
  /** No address is given. */
  INVITEES_REQUIRED: 'invalid',
  /** Too many addresses in one request. */
  TOO_MANY_INVITEES: 'invalid',
  /** The organization has too many open invitations. */
  TOO_MANY_INVITATIONS: 'conflict',
  /** The invitation was already revoked. */
  INVITATION_REVOKED: 'conflict',
  /** The role is above the caller's own. */
  CANNOT_INVITE_WITH_ROLE: 'forbidden',
  /** Only administrators may change other people's invitations. */
  NOT_INVITER: 'forbidden',
  /** The caller may not subscribe others to the channels. */
  CANNOT_SUBSCRIBE_OTHERS: 'forbidden',
  /** Some or all invitations failed; `errors` (list of `InvitationError`), `sentInvitations`, `dailyLimitReached`. */
  INVITATION_FAILED: 'conflict',
});

type InvitationErrors = typeof INVITATION_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    invitations: [reads: InvitationReads, repository: InvitationRepository];
  }
  interface DomainEventTypes extends InvitationEventTypes {}
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

/** Returns the URL for joining by a link (organization §9.1). `realmUrl` has no trailing slash. */
export const invitationLink = (realmUrl: string, key: string): string => `${realmUrl}/join/${key}/`;

export interface InvitationConfig {
  /** Default validity of invitations in minutes; null: unlimited. */
  readonly defaultValidityMinutes: number | null;
  /** True if users joining by link must confirm their email. */
  readonly confirmsAddresses: boolean;
}

/** Upper limit that is practically unlimited and that storage still represents exactly. */
const MAX_SECONDS = 10_000 * 365 * 86_400;

/**
 * Returns the expiry time. Zero or negative minutes create an expired invitation (organization §9.1).
 * @param minutes Null: never expires; undefined: server default
 */
export function expiryOf(
  minutes: number | null | undefined,
  { defaultValidityMinutes }: InvitationConfig,
  now: UnixSeconds,
): UnixSeconds | null {
  const validity = minutes === undefined ? defaultValidityMinutes : minutes;
  return validity === null ? null : now + Math.max(-MAX_SECONDS, Math.min(validity * 60, MAX_SECONDS));
}

/** `link`: reusable by many people. `email`: one email per address, each for one person. */
export type InvitationKind = 'link' | 'email';

/** Checks whether the actor may invite anyone at all (organization §9.1 rows 1, 2 and 4, §9.3). */
export function canInvite(
  actor: Pick<Actor, 'role' | 'groups' | 'isBot'>,
  realm: Pick<Realm, 'permissions'>,
  kind: InvitationKind,
): Decision {
  const permission = kind === 'link' ? 'createMultiuseInvite' : 'canInviteUsers';
  return all(canUseInvitations(actor), insufficientUnless(hasRealmPermission(actor, realm, permission)));
}

/**
 * Checks access to listing, revoking and resending. Inviters who lost the invite permission keep it (organization
 * §9.2, §9.4).
 */
export const canUseInvitations = (actor: Pick<Actor, 'role' | 'isBot'>): Decision =>
  all(mustNotBeGuest(actor), mustBeHuman(actor));

/** Denies inviting with a role higher than the actor's own (organization §9.1 rows 5 and 6). */
export function canInviteAs(actor: Pick<Actor, 'role'>, role: Role): Decision {
  return all(
    role === 'owner' ? mustBeOwner(actor) : allowed,
    denyIf(!isAtLeast(actor.role, role), 'CANNOT_INVITE_WITH_ROLE', 'Must be an organization administrator'),
  );
}

/** Channel offered to the invitee, with the requested id. */
export interface InvitationChannel {
  readonly id: ChannelId;
  /** Null if the channel does not exist. */
  readonly channel: Channel | null;
  /** True if the inviter is subscribed. */
  readonly isSubscribed: boolean;
}

/**
 * Allows default channels, and other channels to which the inviter may add subscribers (organization §9.1 rows 7 and
 * 8). Missing channels are reported before missing permissions.
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

/** Null stands for an unknown group (organization §9.1 row 9). */
export function canInviteIntoGroups(
  actor: Actor,
  realm: Pick<Realm, 'permissions'>,
  groups: readonly (Group | null)[],
): Decision {
  return all(...groups.map((group) => canInviteIntoGroup(actor, realm, group)));
}

/** Current channels and groups of an offer. */
export interface Offered {
  readonly channels: readonly InvitationChannel[];
  /** Unknown groups are null. */
  readonly groups: readonly (Group | null)[];
}

/**
 * Returns the part of an offer that the inviter may still make at the time of joining (organization §10.3). Null if the
 * inviter left, or may no longer invite or grant the role.
 */
export function presentOffer(
  inviter: Actor | null,
  realm: Pick<Realm, 'permissions'>,
  invitation: InvitationOffer & Pick<InvitationEntry, 'kind'>,
  { channels, groups }: Offered,
): InvitationOffer | null {
  if (inviter === null) return null;
  if (!all(canInvite(inviter, realm, invitation.kind), canInviteAs(inviter, invitation.role)).allowed) return null;
  return {
    role: invitation.role,
    includesDefaultChannels: invitation.includesDefaultChannels,
    channelIds: channels.filter((each) => canInviteIntoChannels(inviter, realm, [each]).allowed).map(({ id }) => id),
    groupIds: groups.flatMap((group) =>
      group !== null && canInviteIntoGroups(inviter, realm, [group]).allowed ? [group.id] : [],
    ),
    welcomeText: effectiveWelcomeText(inviter, invitation.welcomeText),
  };
}

/** Returns the custom welcome message of administrators and null for other inviters (README decision 6). */
export const effectiveWelcomeText = (actor: Pick<Actor, 'role'>, text: string | null): string | null =>
  isAdministrator(actor) ? text : null;

const DAY = 86_400;
const MIN_AGE_DAYS = 3;

/**
 * True if the account is too new to invite people into an open realm. New accounts could be abused to send email
 * (organization §9.3, contract decision 24).
 */
export function isTooNewToInvite(
  actor: Pick<Actor, 'role'>,
  realm: Pick<Realm, 'settings'>,
  joinedAt: UnixSeconds,
  now: UnixSeconds,
): boolean {
  const isOpen = !realm.settings.inviteRequired;
  return isOpen && !isAdministrator(actor) && now - joinedAt < MIN_AGE_DAYS * DAY;
}

/** True if the actor sees all invitations instead of only their own (organization §9.2). */
export const seesAllInvitations = (actor: Pick<Actor, 'role'>): boolean => isAdministrator(actor);

/** Properties of an invitation that determine who may change it. */
export interface InvitationRights {
  readonly kind: InvitationKind;
  /** Null if not recorded. */
  readonly inviterId: UserId | null;
  readonly role: Role;
  /** True for a revoked link; revoked links remain stored. */
  readonly isRevoked: boolean;
}

/** Checks permission to revoke or resend (organization §9.4). Null stands for an unknown invitation. */
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

/**
 * Result of checking an invitee. The last three states cannot be invited; any other state except `new` rejects the
 * whole request.
 */
export type InviteeState = 'new' | 'malformed' | AddressFault | 'hasAccount' | 'isDeactivated' | 'isSystemBot';

export interface Invitee {
  /** Address as typed, without a display name. */
  readonly email: string;
  readonly state: InviteeState;
}

/** Reason an address was not invited. */
export interface InvitationError {
  readonly email: string;
  readonly message: string;
  /** True if the address belongs to a deactivated account. */
  readonly isDeactivated: boolean;
}

export interface InvitationOutcome {
  /** Addresses to invite, in input order. */
  readonly invited: readonly string[];
  /** Decision to enforce after these invitations are committed. Rejected addresses do not roll back the others. */
  readonly decision: Decision;
}

/**
 * Returns the addresses to invite, or an INVITATION_FAILED denial (organization §9.3). Runs after the request checks.
 * `isTooNew` comes from `isTooNewToInvite`.
 */
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
  // Parley has no license limits.
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
 * Returns an invitation that the caller may revoke or resend (organization §9.4).
 * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER,
 * INVITATION_REVOKED
 */
export async function loadChangeable(
  tx: Transaction,
  caller: Caller,
  { kind, id }: { readonly kind: InvitationKind; readonly id: number },
): Promise<Invitation> {
  const actor = await tx.actors.get(caller);
  const found = await tx.invitations.find(caller.realmId, id);
  // Clients address an id together with its kind. Accepted invitations cannot be changed.
  const invitation = found?.kind === kind && found.status !== 'used' ? found : null;
  enforce(canChangeInvitation(actor, invitation && { ...invitation, isRevoked: invitation.status === 'revoked' }));
  return invitation!;
}
