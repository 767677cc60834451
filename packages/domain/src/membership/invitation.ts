import type { Role } from '../access/role.js';
import { DomainError } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { foldCase, trim } from '../kernel/text.js';
import type { InvitationKind } from './invitation-permissions.js';

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
