import type { LinkKeys } from '../access/confirmations.js';
import type { Caller } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { addressFault, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import { isEmailAddress } from '../users/user.js';
import { addInvitations, checkOffer, endInvitation, publishInvitations, sendEmail } from './invitation-changes.js';
import {
  canInvite,
  canInviteAs,
  canUseInvitations,
  dayOf,
  expiryOf,
  type InvitationConfig,
  type InvitationEntry,
  type InvitationKind,
  type InvitationOffer,
  type Invitee,
  type InviteeState,
  invitationLink,
  isTooNewToInvite,
  judgeInvitees,
  loadChangeable,
  MAX_INVITATION_EMAILS_PER_DAY,
  parseInvitees,
  requireRoomForInvitations,
  seesAllInvitations,
} from './invitations.js';

export interface ListedInvitation {
  readonly invitation: InvitationEntry;
  /** Null for email invitations. */
  readonly link: string | null;
}

/** Lists invitations that can still be accepted (organization §9.2). */
export class ListInvitations {
  static readonly inject = ['unitOfWork', 'invitationKeys', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /** Returns email invitations first, then by ascending id. @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT */
  async execute(caller: Caller): Promise<readonly ListedInvitation[]> {
    const { realm, invitations } = await this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      enforce(canUseInvitations(actor));
      const inviterId = seesAllInvitations(actor) ? null : actor.id;
      return {
        realm: await repositories.realms.get(caller.realmId),
        invitations: await repositories.invitations.listOpen(caller.realmId, this.clock.now(), inviterId),
      };
    });
    const url = this.realmUrls.urlOf(realm);
    return invitations.map((invitation) => ({
      invitation,
      link: invitation.kind === 'link' ? invitationLink(url, this.keys.derive(invitation)) : null,
    }));
  }
}

export interface CreateInvitationLinkInput extends InvitationOffer {
  /** Null: never expires; undefined: server default. */
  readonly expiresInMinutes: number | null | undefined;
}

/** Creates a link by which anyone may join (organization §9.1). */
export class CreateInvitationLink {
  static readonly inject = ['unitOfWork', 'invitationKeys', 'realmUrls', 'clock', 'invitationConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * Returns the link.
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, NOT_PERMITTED, MUST_BE_OWNER, CANNOT_INVITE_WITH_ROLE,
   * UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED, TOO_MANY_INVITATIONS
   */
  execute(caller: Caller, { expiresInMinutes, ...invitations }: CreateInvitationLinkInput): Promise<string> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      enforce(canInvite(actor, realm, 'link'));
      enforce(canInviteAs(actor, invitations.role));
      const offer = await checkOffer(tx, actor, realm, invitations);
      const now = this.clock.now();
      requireRoomForInvitations(await tx.invitations.countOpen(realm.id, now), 1);
      const link = {
        ...offer,
        realmId: realm.id,
        kind: 'link',
        inviterId: actor.id,
        invitedAt: now,
        expiresAt: expiryOf(expiresInMinutes, this.config, now),
        status: 'open',
        notifiesInviter: false,
      } as const;
      const [invitation] = await addInvitations(tx, link, [null]);
      await publishInvitations(tx, realm.id, actor.id);
      return invitationLink(this.realmUrls.urlOf(realm), this.keys.derive(invitation!));
    });
  }
}

export interface InviteByEmailInput extends InvitationOffer {
  /** Email list as typed, separated by commas or line breaks. */
  readonly invitees: string;
  /** Null: never expires; undefined: server default. */
  readonly expiresInMinutes: number | null | undefined;
  readonly notifiesInviter: boolean;
}

/** Emails an invitation for one person to each address (organization §9.3). */
export class InviteByEmail {
  static readonly inject = ['unitOfWork', 'disposableDomains', 'clock', 'invitationConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * INVITATION_FAILED may occur after some people were invited; its details list them.
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, NOT_PERMITTED, MUST_BE_OWNER, CANNOT_INVITE_WITH_ROLE,
   * INVITEES_REQUIRED, TOO_MANY_INVITEES, UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED,
   * TOO_MANY_INVITATIONS, INVITATION_FAILED
   */
  async execute(
    caller: Caller,
    { invitees, expiresInMinutes, notifiesInviter, ...wanted }: InviteByEmailInput,
  ): Promise<void> {
    const decision = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(caller.realmId);
      enforce(canInvite(actor, realm, 'email'));
      enforce(canInviteAs(actor, wanted.role));
      const addresses = parseInvitees(invitees);
      const offer = await checkOffer(tx, actor, realm, wanted);

      const now = this.clock.now();
      const day = dayOf(now);
      const sent = await tx.invitations.countEmails(realm.id, day);
      const user = await tx.users.find(realm.id, actor.id);
      const outcome = judgeInvitees(await this.statesOf(tx, realm, addresses), {
        hasReachedDailyLimit: sent + addresses.length > MAX_INVITATION_EMAILS_PER_DAY,
        isTooNew: isTooNewToInvite(actor, realm, user?.joinedAt ?? now, now),
      });
      const { invited } = outcome;
      if (invited.length === 0) return outcome.decision;
      requireRoomForInvitations(await tx.invitations.countOpen(realm.id, now), invited.length);
      await tx.invitations.addEmails(realm.id, day, invited.length);
      const invitations = {
        ...offer,
        realmId: realm.id,
        kind: 'email',
        inviterId: actor.id,
        invitedAt: now,
        expiresAt: expiryOf(expiresInMinutes, this.config, now),
        status: 'open',
        notifiesInviter,
      } as const;
      await addInvitations(tx, invitations, invited);
      await publishInvitations(tx, realm.id, actor.id);
      return outcome.decision;
    });
    enforce(decision);
  }

  private async statesOf(tx: Transaction, realm: Realm, addresses: readonly string[]): Promise<readonly Invitee[]> {
    const policy = await loadAddressPolicy(tx, realm, this.disposable);
    const wellFormed = addresses.filter(isEmailAddress);
    const owners = new Map(
      (await tx.users.listByEmail(realm.id, wellFormed)).map((user) => [foldCase(user.email), user]),
    );
    const stateOf = (email: string): InviteeState => {
      if (!isEmailAddress(email)) return 'malformed';
      const fault = addressFault(email, policy);
      if (fault !== null) return fault;
      const owner = owners.get(foldCase(email));
      if (!owner) return 'new';
      if (owner.bot?.isSystem) return 'isSystemBot';
      return owner.isActive ? 'hasAccount' : 'isDeactivated';
    };
    return addresses.map((email) => ({ email, state: stateOf(email) }));
  }
}

export interface ResendInvitationInput {
  readonly id: number;
}

/** Sends the same email again without extending its validity (organization §9.4). */
export class ResendInvitation {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER,
   * INVITATION_FAILED
   */
  execute(caller: Caller, { id }: ResendInvitationInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const invitation = await loadChangeable(tx, caller, { kind: 'email', id });
      const now = this.clock.now();
      const sent = await tx.invitations.countEmails(caller.realmId, dayOf(now));
      const hasReachedDailyLimit = sent >= MAX_INVITATION_EMAILS_PER_DAY;
      const invitees = [{ email: invitation.email!, state: 'new' }] as const;
      enforce(judgeInvitees(invitees, { hasReachedDailyLimit, isTooNew: false }).decision);
      await tx.invitations.addEmails(caller.realmId, dayOf(now), 1);
      await sendEmail(tx, invitation, now);
    });
  }
}

export interface RevokeInvitationInput {
  readonly kind: InvitationKind;
  readonly id: number;
}

/** Revokes an invitation, which can then no longer be accepted (organization §9.4). */
export class RevokeInvitation {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, UNKNOWN_INVITATION, MUST_BE_OWNER, NOT_INVITER,
   * INVITATION_REVOKED
   */
  execute(caller: Caller, input: RevokeInvitationInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const invitation = await loadChangeable(tx, caller, input);
      await endInvitation(tx, invitation, 'revoked', this.clock.now());
      await publishInvitations(tx, caller.realmId, invitation.inviterId);
    });
  }
}
