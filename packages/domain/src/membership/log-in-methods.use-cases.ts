import { endConfirmation } from '../access/confirmations.js';
import { type ApiKeyMint, loginAttemptKey, type SessionTokens } from '../access/credentials.js';
import type { EmailQuota } from '../access/email.js';
import { storeMembers } from '../groups/change-members.use-cases.js';
import { MAX_MEMBERSHIPS } from '../groups/group.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls, ReportProblem } from '../kernel/ports.js';
import { foldCase, isLongerThan } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { Removal } from '../kernel/work.js';
import { SystemMessages } from '../messages/system-messages.js';
import type { Realm } from '../realms/realm.js';
import { accountDeactivated, unknownRealm } from '../users/authentication.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import { type OpenedSession, openSession } from '../users/sessions.use-cases.js';
import type { User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import { sealConnection, type UnprovenLogIn } from './account-connections.use-cases.js';
import { findAvailableName } from './add-user.js';
import { admit } from './admission.js';
import {
  completeFlow,
  type DesktopLogIn,
  LogInCompletion,
  type LogInResult,
  logInExpired,
  openFlow,
  sealFlow,
} from './finish-log-in.js';
import type { Invitation } from './invitations.js';
import { type LogInEvidence, proofFor, readEvidence, requestProof } from './log-in-evidence.js';
import {
  addressStanding,
  admitsStrangers,
  ClientRejected,
  type ExternalIdentity,
  isMeantFor,
  LOG_IN_SECONDS,
  type LogInChallenge,
  type LogInMethod,
  type LogInProvider,
  type LogInPurpose,
  type LogInResponse,
  type LogInTokens,
  offeredMethods,
  offeredProvider,
  requireUnlinkedOrReport,
} from './log-in-methods.js';
import { planPicture } from './log-in-pictures.js';
import { emailKey, externalIdKey, findPlaceholder } from './placeholders.js';
import { RejectedClientNotices } from './rejected-client-notices.js';
import { changeRole } from './roles.js';
import { invitationRequired, loadOpenRealm, OPEN_OFFER, type SignUpKeys } from './sign-up.js';
import { roleChange } from './stated-roles.js';

/** Log-in options of an organization other than passwords. */
export interface LogInOffer {
  readonly methods: readonly LogInMethod[];
  /** True if anyone in the organization can log in by passkey. */
  readonly hasPasskeys: boolean;
}

/** Returns the log-in options of an organization other than passwords. */
export class ListLogInMethods {
  static readonly inject = ['unitOfWork', 'logInProviders'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
  ) {}

  async execute({ realmId }: AnonymousCaller): Promise<LogInOffer> {
    if (realmId === null) return { methods: [], hasPasskeys: false };
    return this.uow.read(realmId, async ({ realms, secondFactors }) => {
      const realm = await realms.get(realmId);
      const hasPasskeys = realm.settings.emailAuthentication && (await secondFactors.hasPasskeys(realmId));
      return { methods: offeredMethods(this.providers, realm), hasPasskeys };
    });
  }
}

/** Callback path below an organization's URL. */
export const callbackPath = (method: string): string => `/accounts/login/complete/${method}/`;

const challengeOf = (tokens: LogInTokens, state: string, url: string, method: string): LogInChallenge => ({
  state,
  nonce: tokens.derive(state, 'nonce'),
  verifier: tokens.derive(state, 'verifier'),
  callbackUrl: url + callbackPath(method),
});

export interface BeginLogInInput {
  readonly method: string;
  readonly purpose: LogInPurpose;
  /** Key of an invitation or address confirmation; null without one. */
  readonly key: string | null;
}

/** Log-in at a service, as stored in the browser. */
interface ServiceLogIn {
  readonly method: string;
  readonly purpose: LogInPurpose;
  readonly evidence: LogInEvidence;
  readonly expiresAt: UnixSeconds;
}

export interface BegunLogIn {
  /** URL of the service. */
  readonly address: string;
  readonly state: string;
  /** Sealed log-in for this browser only. */
  readonly flow: string;
}

const NO_EVIDENCE: LogInEvidence = { invitationId: null, confirmationId: null };

/** Redirects a browser to an external service for log-in. */
export class BeginLogIn {
  static readonly inject = [
    'unitOfWork',
    'logInProviders',
    'logInTokens',
    'signUpKeys',
    'realmUrls',
    'clock',
    'report',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly tokens: LogInTokens,
    private readonly keys: SignUpKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_SERVICE_FAILED,
   * INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED, UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED
   */
  async execute({ realmId }: AnonymousCaller, { method, purpose, key }: BeginLogInInput): Promise<BegunLogIn> {
    if (realmId === null) throw unknownRealm();
    const { tokens } = this;
    const now = this.clock.now();
    const { realm, provider, evidence } = await this.uow.read(realmId, async (reads) => {
      const open = await loadOpenRealm(reads, realmId);
      const offered = offeredProvider(this.providers, open, method);
      const given = key === null ? NO_EVIDENCE : await readEvidence(reads, this.keys, open, key, now);
      return { realm: open, provider: offered, evidence: given };
    });
    const state = tokens.make();
    const begun: ServiceLogIn = { method, purpose, evidence, expiresAt: now + LOG_IN_SECONDS };
    const flow = sealFlow(tokens, ['service', realmId, state], begun);
    try {
      const address = await provider.begin(challengeOf(tokens, state, this.realmUrls.urlOf(realm), method));
      return { address, state, flow };
    } catch (err) {
      this.report('a log-in service failed', { err, method }, 'warn');
      throw serviceFailed();
    }
  }
}

export const serviceFailed = () =>
  new DomainError('LOG_IN_SERVICE_FAILED', 'The service for logging in does not respond as expected. Try again later.');

/** Describes this server to a service, even before the organization enables it. */
export class DescribeToService {
  static readonly inject = ['unitOfWork', 'logInProviders', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_LOG_IN_METHOD */
  async execute({ realmId }: AnonymousCaller, name: string): Promise<string> {
    if (realmId === null) throw unknownRealm();
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    const provider = this.providers.find(({ method }) => method.name === name && isMeantFor(method, realm));
    if (!provider?.metadata) throw new DomainError('UNKNOWN_LOG_IN_METHOD', 'There is no such way to log in.');
    return provider.metadata(this.realmUrls.urlOf(realm) + callbackPath(name));
  }
}

/** Opens a session for a token decrypted by the desktop app. */
export class LogInByDesktopToken {
  static readonly inject = ['unitOfWork', 'logInTokens', 'clock', 'sessionTokens'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: LogInTokens,
    private readonly clock: Clock,
    private readonly sessionTokens: SessionTokens,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, LOG_IN_EXPIRED, USER_DEACTIVATED, REALM_DEACTIVATED */
  async execute(
    { realmId, ip }: AnonymousCaller,
    { token, userAgent }: { readonly token: string; readonly userAgent: string },
  ): Promise<OpenedSession> {
    if (realmId === null) throw unknownRealm();
    const { uow, tokens, clock } = this;
    const { user, method } = await this.uow.write(realmId, async (tx) => {
      const opened = { sealed: token, now: this.clock.now() };
      const flow = await openFlow<DesktopLogIn>(tx, tokens, ['desktop', realmId], opened);
      await completeFlow(tx, tokens, realmId, { ...flow, sealed: token });
      const found = await tx.users.find(realmId, flow.userId);
      if (!found) throw logInExpired();
      return { user: found, method: flow.method };
    });
    return openSession({ uow, tokens: this.sessionTokens, clock }, { user, userAgent, ip, method });
  }
}

export interface CompleteLogInInput {
  readonly method: string;
  readonly state: string;
  /** Sealed log-in sent by the browser; null if it sent none. */
  readonly flow: string | null;
  readonly response: LogInResponse;
  /** User authenticated by the host application; null if none. */
  readonly hostUserId: UserId | null;
  readonly userAgent: string;
  /** Called with the email address once it is known, even if the log-in then fails. */
  readonly identified?: (account: string) => void;
}

export interface CompletedLogIn {
  readonly user: User;
  /** Account change made by the log-in. */
  readonly change: 'created' | 'linked' | null;
  readonly result: LogInResult;
}

type Recognized = Pick<CompletedLogIn, 'user' | 'change'>;
type Welcome = Awaited<ReturnType<SystemMessages['parseWelcome']>>;

/** Person authenticated by a service, with the link that led there. */
interface Authenticated {
  readonly method: LogInMethod;
  readonly identity: ExternalIdentity;
  readonly evidence: LogInEvidence;
}

/** Completes a log-in when the browser returns from an external service. */
export class CompleteLogIn {
  static readonly inject = [
    'unitOfWork',
    'logInProviders',
    'logInTokens',
    'realmUrls',
    'disposableDomains',
    'emailQuota',
    'apiKeyMint',
    'clock',
    'report',
    SystemMessages,
    RejectedClientNotices,
    LogInCompletion,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly tokens: LogInTokens,
    private readonly realmUrls: RealmUrls,
    private readonly disposable: DisposableDomains,
    private readonly emails: EmailQuota,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
    private readonly systemMessages: SystemMessages,
    private readonly notices: RejectedClientNotices,
    private readonly completion: LogInCompletion,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_EXPIRED, LOG_IN_REFUSED,
   * LOG_IN_SERVICE_FAILED, UNVERIFIED_EMAIL, LINKED_TO_ANOTHER_ACCOUNT, USER_DEACTIVATED, INVITATION_REQUIRED,
   * EMAIL_NOT_ALLOWED, RATE_LIMITED, TOO_MANY_SIGN_UPS
   */
  async execute(caller: AnonymousCaller, input: CompleteLogInInput): Promise<CompletedLogIn | UnprovenLogIn> {
    const { realmId } = caller;
    if (realmId === null) throw unknownRealm();
    const { method, state, userAgent } = input;
    const { provider, purpose, evidence, realm, complete } = await this.open(realmId, input);
    let recognized: Recognized;
    let serviceSession: string | null = null;
    if (provider.method.kind === 'host') {
      const user = await this.hostUser(realmId, input.hostUserId);
      await complete();
      recognized = { user, change: null };
    } else {
      const challenge = challengeOf(this.tokens, state, this.realmUrls.urlOf(realm), method);
      const identity = await this.identify(realmId, provider, challenge, input.response);
      if (identity.email !== null) input.identified?.(identity.email);
      await complete();
      for (const problem of identity.problems ?? []) {
        this.report('a log-in service left something out', { problem, method, realmId, subject: identity.subject });
      }
      const authenticated = { method: provider.method, identity, evidence };
      const found = await this.recognize(realm, authenticated);
      if (!found) return this.requestProof(caller, realm, authenticated, state);
      recognized = found;
      serviceSession = identity.serviceSession ?? null;
    }
    const { user } = recognized;
    const finished = { user, method, purpose, userAgent, serviceSession };
    return { ...recognized, result: await this.completion.complete(caller, finished) };
  }

  /** Opens the flow. `complete` prevents a second completion. */
  private async open(realmId: RealmId, { method, state, flow: sealed }: CompleteLogInInput) {
    const { tokens, uow } = this;
    const { realm, provider, flow } = await uow.read(realmId, async (repositories) => {
      const open = await loadOpenRealm(repositories, realmId);
      const offered = offeredProvider(this.providers, open, method);
      if (sealed === null) throw logInExpired();
      const scope = ['service', realmId, state] as const;
      const opened = await openFlow<ServiceLogIn>(repositories, tokens, scope, { sealed, now: this.clock.now() });
      return { realm: open, provider: offered, flow: { ...opened, sealed } };
    });
    if (flow.method !== method) throw logInExpired();
    const complete = () => uow.write(realmId, (tx) => completeFlow(tx, tokens, realmId, flow));
    return { realm, provider, purpose: flow.purpose, evidence: flow.evidence, complete };
  }

  private async hostUser(realmId: RealmId, userId: UserId | null): Promise<User> {
    const user = userId && (await this.uow.read(realmId, ({ users }) => users.find(realmId, userId)));
    if (!user) throw new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');
    return user;
  }

  private async identify(
    realmId: RealmId,
    provider: LogInProvider,
    challenge: LogInChallenge,
    response: LogInResponse,
  ): Promise<ExternalIdentity> {
    const { method } = provider;
    try {
      const identity = await provider.identify(challenge, response);
      this.notices.onAccepted(realmId, method);
      return identity;
    } catch (err) {
      if (err instanceof DomainError) throw err;
      this.report('a log-in service failed', { err, method: method.name }, 'warn');
      if (err instanceof ClientRejected) await this.notices.onRejected(realmId, method);
      throw serviceFailed();
    }
  }

  /**
   * Finds the user by linked account, else by a proven email address; creates one for admitted people. Returns null if
   * the address is unproven.
   */
  private async recognize(before: Realm, authenticated: Authenticated): Promise<Recognized | null> {
    const { method, identity, evidence } = authenticated;
    if (identity.subject === '' || isLongerThan(identity.subject, MAX_SUBJECT_LENGTH)) throw serviceFailed();
    const { id: realmId } = before;
    const words = await this.parseWelcome(before, authenticated);
    return this.uow.write(realmId, async (tx) => {
      const realm = await loadOpenRealm(tx, realmId);
      const linkedId = await tx.logIns.findLinked(realmId, method.name, identity.subject);
      if (linkedId !== null) {
        const user = await tx.users.get(realmId, linkedId);
        if (!user.isActive) throw accountDeactivated();
        await placeInGroups(tx, user, identity);
        await this.planPicture(tx, user, method.name, identity);
        return { user: await this.withRole(tx, realm, user, identity), change: null };
      }
      const now = this.clock.now();
      const standing = addressStanding(identity, method);
      if (standing === 'missing')
        throw new DomainError('UNVERIFIED_EMAIL', 'The service does not vouch for your email address.');
      const email = identity.email!;
      const { isAddressProven, invitation, confirmation } = await proofFor(tx, realm, { email, evidence }, now);
      if (standing === 'unproven' && !isAddressProven) return null;
      const owner = await tx.users.findByEmail(realmId, email);
      const { subject } = identity;
      if (owner) await requireUnlinkedOrReport(tx, owner, { method: method.name, subject }, this.report);
      if (owner && !owner.isActive) throw accountDeactivated();
      if (owner?.bot) throw new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');
      const user = owner
        ? await this.withRole(tx, realm, owner, identity)
        : await this.join(tx, realm, authenticated, { email, invitation, words });
      if (confirmation) await endConfirmation(tx, confirmation, now);
      await placeInGroups(tx, user, identity);
      const account = { method: method.name, subject, userId: user.id, linkedAt: now, picture: null };
      await tx.logIns.link(realmId, account);
      await this.planPicture(tx, user, method.name, identity);
      return { user, change: owner ? ('linked' as const) : ('created' as const) };
    });
  }

  /** Parses the welcome message of the invitation before the transaction. */
  private async parseWelcome(realm: Realm, { method, identity, evidence }: Authenticated): Promise<Welcome> {
    const { subject, email } = identity;
    const proof = await this.uow.read(realm.id, async (reads) => {
      if (email === null || (await reads.logIns.findLinked(realm.id, method.name, subject)) !== null) return null;
      return proofFor(reads, realm, { email, evidence }, this.clock.now());
    });
    return proof && this.systemMessages.parseWelcome(realm, (proof.invitation ?? OPEN_OFFER).welcomeText);
  }

  private async requestProof(
    { ip }: AnonymousCaller,
    { id: realmId }: Realm,
    { method, identity, evidence }: Authenticated,
    state: string,
  ): Promise<UnprovenLogIn> {
    const email = identity.email!;
    const { disposable } = this;
    const now = this.clock.now();
    let refusedEmail: DomainError | null = null;
    try {
      // Counted per account, since many people may share a network address and may be able to change their email address.
      this.emails.take('signUpByEmail', `${realmId} ${method.name} ${identity.subject}`, ip);
      this.emails.take('signUpByEmail', loginAttemptKey(realmId, email), ip);
      await this.uow.write(realmId, async (tx) =>
        requestProof(tx, await loadOpenRealm(tx, realmId), { email, method, evidence }, { disposable, now }),
      );
    } catch (error) {
      // Others may use up the emails of an address; its owner can still log in.
      if (!(error instanceof DomainError) || !error.is('RATE_LIMITED')) throw error;
      refusedEmail = error;
    }
    const account = { method: method.name, subject: identity.subject, email };
    return {
      method,
      unproven: email,
      refusedEmail,
      state,
      flow: sealConnection(this.tokens, { realmId, state, now }, account),
    };
  }

  private async planPicture(tx: Transaction, user: User, method: string, { picture }: ExternalIdentity): Promise<void> {
    if (picture) await planPicture(tx, user, { method, url: picture, now: this.clock.now() });
  }

  private async withRole(tx: Transaction, realm: Realm, user: User, { role: stated }: ExternalIdentity): Promise<User> {
    const { realmId, id: userId } = user;
    const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, userId));
    const { role, problem } = roleChange(user, stated, isOnlyOwner);
    if (problem !== null) this.report('a user keeps another role than a service states', { problem, realmId, userId });
    return role === null ? user : changeRole(tx, realm, user, role, this.clock.now());
  }

  private async join(
    tx: Transaction,
    realm: Realm,
    { method, identity: { subject, fullName, role } }: Authenticated,
    {
      email,
      invitation,
      words,
    }: { readonly email: string; readonly invitation: Invitation | null; readonly words: Welcome },
  ): Promise<User> {
    if (!invitation && !admitsStrangers(method, realm)) throw invitationRequired(email);
    enforce(canJoinWith(email, await loadAddressPolicy(tx, realm, this.disposable), 'joinForm'));
    const claims = [externalIdKey(method.name, subject), emailKey(email)];
    const placeholder = await findPlaceholder(tx, realm.id, claims);
    const names = [fullName ?? '', email.split('@')[0]!, email];
    const name = (await findAvailableName(tx, realm, names, placeholder)) ?? email;
    const newcomer = { email, fullName: name, role, passwordHash: null, invitation, words, claims };
    const { mint, systemMessages } = this;
    return admit(tx, realm, newcomer, { now: this.clock.now(), mint, systemMessages });
  }
}

/** Updates the user's membership in groups determined by the service. Full groups stay unchanged. */
async function placeInGroups(
  tx: Transaction,
  { realmId, id: userId }: User,
  { groups = new Map() }: ExternalIdentity,
): Promise<void> {
  for (const { id: groupId, name, systemName, isDeactivated } of await tx.groups.listByName(realmId, [
    ...groups.keys(),
  ])) {
    const isMember = (await tx.groups.filterDirectMembers(realmId, groupId, [userId])).length > 0;
    const belongs = [...groups].some(([it, belongsTo]) => belongsTo && foldCase(it) === foldCase(name!));
    if (systemName !== null || isDeactivated || isMember === belongs) continue;
    if (belongs && (await tx.groups.countMemberships(realmId)) >= MAX_MEMBERSHIPS) continue;
    await storeMembers(tx, realmId, { groupId, op: belongs ? 'add' : 'remove', userIds: [userId] });
  }
}

/** Removes expired records of completed log-ins. */
export class RemoveExpiredLogIns extends Removal {
  protected remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number> {
    return tx.logIns.removeExpiredUses(now, limit);
  }
}

/** In code points; OpenID Connect ids have at most 255 characters. */
const MAX_SUBJECT_LENGTH = 255;
