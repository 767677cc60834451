import { composeEmail, EMAIL_PORTS, type Email, EmailJobs, emailJobKind } from '../access/email.js';
import { DomainError } from '../kernel/errors.js';
import { type AnonymousCaller, type Caller, isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { loadPasswordOwner, type OwnPassword, PasswordCheck, verifyOwnPassword } from '../users/authentication.js';
import {
  clearSecondFactors,
  hasSecondFactor,
  MAX_PASSKEY_NAME_LENGTH,
  MAX_PASSKEYS,
  type OneTimeCodes,
  ownerOf,
  type PasskeyProtocol,
  RECOVERY_CODES,
  requiresSecondFactor,
  type SecondFactorSecrets,
  type SecondFactors,
  wrongSecondFactor,
} from '../users/second-factors.js';
import type { User } from '../users/user.js';
import { canEndSessions } from '../users/user-permissions.js';
import { logInExpired } from './finish-log-in.js';
import { noPassword, SecondSteps, type Step, type StepKey } from './second-factor-log-in.use-cases.js';

export interface ProvePasswordInput extends OwnPassword {
  /** Cookie of the browser. */
  readonly browser: string;
}

/** Verifies the password again before second factors are changed. Returns the state of the changes. */
export class ProvePassword {
  static readonly inject = [PasswordCheck, SecondSteps] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly steps: SecondSteps,
  ) {}

  /** @throws DomainError NO_PASSWORD, RATE_LIMITED, SERVER_BUSY, WRONG_PASSWORD */
  async execute(caller: Caller, { browser, ...proof }: ProvePasswordInput): Promise<string> {
    const { uow, directories } = this.check;
    const owner = await uow.read(caller.realmId, (reads) => loadPasswordOwner(reads, caller));
    const { realm, user, hash } = owner;
    if (hash === null && !directories.isUsedBy(realm)) throw noPassword();
    const isOwn = await verifyOwnPassword(this.check, owner, proof);
    const purpose = { kind: 'session', next: '' } as const;
    return this.steps.begin({ step: 'manage', purpose, user, browser, hash: isOwn ? hash : null });
  }
}

/** Second factors visible to their owner. */
export interface ManagedFactors {
  readonly user: User;
  readonly factors: SecondFactors;
  /** True if the organization requires a second factor. */
  readonly isRequired: boolean;
  /** True during a log-in. */
  readonly isLogIn: boolean;
}

const managed = ({ user, factors, realm, step }: Step): ManagedFactors => ({
  user,
  factors,
  isRequired: requiresSecondFactor(realm.settings, user.role),
  isLogIn: step !== 'manage',
});

/** Loads a flow that may change second factors. @throws DomainError LOG_IN_EXPIRED */
async function loadChange(steps: SecondSteps, realmId: RealmId | null, key: StepKey): Promise<Step> {
  const step = await steps.load(realmId, key);
  if (step.step === 'verify') throw logInExpired();
  requireFirst(step, step.factors);
  return step;
}

/** The password alone can only add the first factor. Another browser may have added one in the meantime. */
function requireFirst({ step }: Step, factors: SecondFactors): void {
  if (step === 'setUp' && hasSecondFactor(factors)) throw logInExpired();
}

/** Lists the second factors of a user who has confirmed their password. */
export class GetSecondFactors {
  static readonly inject = [SecondSteps] as const;
  constructor(private readonly steps: SecondSteps) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, USER_DEACTIVATED, LOG_IN_EXPIRED */
  async execute({ realmId }: AnonymousCaller, key: StepKey): Promise<ManagedFactors> {
    return managed(await loadChange(this.steps, realmId, key));
  }
}

export interface AppOffer {
  /** Sent again with the code. */
  readonly token: string;
  /** Base32. */
  readonly secret: string;
  /** Rows of a QR code; true for dark squares. */
  readonly picture: readonly (readonly boolean[])[];
}

/** Creates a secret for an authenticator app. Nothing is stored until the app has shown a correct code. */
export class OfferApp {
  static readonly inject = [SecondSteps, 'secondFactorSecrets', 'oneTimeCodes'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly secrets: SecondFactorSecrets,
    private readonly codes: OneTimeCodes,
  ) {}

  /** `token`: from the previous offer, after a wrong code. @throws DomainError as `GetSecondFactors` */
  async execute(
    { realmId }: AnonymousCaller,
    { token = this.steps.tokens.make(), ...key }: StepKey & { readonly token?: string },
  ): Promise<AppOffer> {
    const { user, realm } = await loadChange(this.steps, realmId, key);
    const secret = this.secrets.appSecret(token);
    return { token, secret, picture: await this.codes.picture(secret, { issuer: realm.name, account: user.email }) };
  }
}

/** Result of adding a second factor. */
export interface AddedFactor extends ManagedFactors {
  /** New recovery codes, shown once; null if the user already has some. */
  readonly recoveryCodes: readonly string[] | null;
}

interface FactorChange extends StepKey {
  readonly step: Step;
}

/** Adds a factor, with recovery codes if it is the first, and notifies the user. */
async function addFactor(
  tx: Transaction,
  { steps, secrets }: { readonly steps: SecondSteps; readonly secrets: SecondFactorSecrets },
  { step, ...key }: FactorChange,
  add: (factors: SecondFactors) => Promise<void>,
): Promise<AddedFactor> {
  const { user } = step;
  const before = await tx.secondFactors.find(user.realmId, user.id);
  requireFirst(step, before);
  await add(before);
  const recoveryCodes = hasSecondFactor(before) ? null : await renewCodes(tx, secrets, user);
  if (step.step === 'setUp') await steps.finishSetUp(tx, step, key);
  await planEmail(tx, user, 'added', steps.clock.now());
  return { ...managed(step), factors: await tx.secondFactors.find(user.realmId, user.id), recoveryCodes };
}

async function renewCodes(tx: Transaction, secrets: SecondFactorSecrets, user: User): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => secrets.makeRecoveryCode());
  const fingerprints = codes.map((code) => secrets.fingerprint(code, ownerOf(user)));
  await tx.secondFactors.putRecoveryCodes(user.realmId, user.id, fingerprints);
  return codes;
}

export interface ConfirmAppInput extends StepKey {
  readonly token: string;
  readonly code: string;
}

/** Adds or replaces the authenticator app once it has shown a correct code. */
export class ConfirmApp {
  static readonly inject = [SecondSteps, 'secondFactorSecrets', 'oneTimeCodes'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly secrets: SecondFactorSecrets,
    private readonly codes: OneTimeCodes,
  ) {}

  /** @throws DomainError as `GetSecondFactors`; WRONG_SECOND_FACTOR */
  async execute({ realmId }: AnonymousCaller, { token, code, ...key }: ConfirmAppInput): Promise<AddedFactor> {
    const { steps, secrets } = this;
    const step = await loadChange(steps, realmId, key);
    const { user } = step;
    const secret = secrets.appSecret(token);
    const lastStep = await this.codes.stepOf(secret, code, { now: steps.clock.now(), lastStep: 0 });
    if (lastStep === null) throw wrongSecondFactor();
    const app = { secret: secrets.seal(secret, ownerOf(user)), lastStep };
    return steps.uow.write(user.realmId, (tx) =>
      addFactor(tx, { steps, secrets }, { step, ...key }, () => tx.secondFactors.putApp(user.realmId, user.id, app)),
    );
  }
}

/** Returns browser options for creating a passkey. */
export class OfferPasskey {
  static readonly inject = [SecondSteps, 'passkeys'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly passkeys: PasskeyProtocol,
  ) {}

  /** @throws DomainError as `GetSecondFactors` */
  async execute({ realmId }: AnonymousCaller, key: StepKey): Promise<object> {
    const { realm, user, factors } = await loadChange(this.steps, realmId, key);
    return this.passkeys.creationOptions({
      ...this.steps.siteOf(realm, key.state),
      siteName: realm.name,
      userHandle: ownerOf(user),
      userName: user.email,
      displayName: user.fullName,
      existing: factors.passkeys,
    });
  }
}

export interface AddPasskeyInput extends StepKey {
  /** JSON from the browser. */
  readonly response: string;
  readonly name: string;
}

/** Adds a passkey created by the browser. */
export class AddPasskey {
  static readonly inject = [SecondSteps, 'secondFactorSecrets', 'passkeys'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly secrets: SecondFactorSecrets,
    private readonly passkeys: PasskeyProtocol,
  ) {}

  /** @throws DomainError as `GetSecondFactors`; WRONG_SECOND_FACTOR, TOO_MANY_PASSKEYS */
  async execute({ realmId }: AnonymousCaller, { response, name, ...key }: AddPasskeyInput): Promise<AddedFactor> {
    const { steps, secrets } = this;
    const step = await loadChange(steps, realmId, key);
    const { user, realm } = step;
    const made = await this.passkeys.verifyNew(response, steps.siteOf(realm, key.state));
    if (!made) throw wrongSecondFactor();
    const now = steps.clock.now();
    return steps.uow.write(user.realmId, (tx) =>
      addFactor(tx, { steps, secrets }, { step, ...key }, async ({ passkeys }) => {
        if (passkeys.length >= MAX_PASSKEYS) throw new DomainError('TOO_MANY_PASSKEYS', 'You have too many passkeys.');
        // The browser chooses the id, which could be that of another user's passkey.
        if (await tx.secondFactors.findPasskey(user.realmId, made.id)) throw wrongSecondFactor();
        const label = takeCodePoints(name.trim(), MAX_PASSKEY_NAME_LENGTH) || 'Passkey';
        await tx.secondFactors.putPasskey(user.realmId, { ...made, userId: user.id, name: label, createdAt: now });
      }),
    );
  }
}

/** Replaces all recovery codes, used or not. */
export class RenewRecoveryCodes {
  static readonly inject = [SecondSteps, 'secondFactorSecrets'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly secrets: SecondFactorSecrets,
  ) {}

  /** @throws DomainError as `GetSecondFactors`; UNKNOWN_SECOND_FACTOR without a factor to recover */
  async execute({ realmId }: AnonymousCaller, key: StepKey): Promise<AddedFactor> {
    const step = await loadChange(this.steps, realmId, key);
    const { user } = step;
    return this.steps.uow.write(user.realmId, async (tx) => {
      if (!hasSecondFactor(await tx.secondFactors.find(user.realmId, user.id))) throw unknownFactor();
      const recoveryCodes = await renewCodes(tx, this.secrets, user);
      return { ...managed(step), recoveryCodes };
    });
  }
}

export interface RemoveFactorInput extends StepKey {
  /** Id of a passkey; null for the app. */
  readonly passkeyId: string | null;
}

/** Removes the app or a passkey of a user who has confirmed their password. */
export class RemoveSecondFactor {
  static readonly inject = [SecondSteps] as const;
  constructor(private readonly steps: SecondSteps) {}

  /** Returns the user. @throws DomainError as `GetSecondFactors`; UNKNOWN_SECOND_FACTOR, SECOND_FACTOR_REQUIRED */
  async execute({ realmId }: AnonymousCaller, { passkeyId, ...key }: RemoveFactorInput): Promise<User> {
    const { uow, clock } = this.steps;
    const { user, realm } = await loadChange(this.steps, realmId, key);
    return uow.write(user.realmId, async (tx) => {
      const { app, passkeys } = await tx.secondFactors.find(user.realmId, user.id);
      const others = passkeys.filter(({ id }) => id !== passkeyId);
      if (passkeyId === null ? app === null : others.length === passkeys.length) throw unknownFactor();
      const isLast = passkeyId === null ? passkeys.length === 0 : app === null && others.length === 0;
      if (isLast && requiresSecondFactor(realm.settings, user.role)) {
        throw new DomainError(
          'SECOND_FACTOR_REQUIRED',
          'Your organization requires a second factor. Add another one first.',
        );
      }
      if (passkeyId === null) await tx.secondFactors.putApp(user.realmId, user.id, null);
      else await tx.secondFactors.removePasskey(user.realmId, user.id, passkeyId);
      if (isLast) await tx.secondFactors.putRecoveryCodes(user.realmId, user.id, []);
      await planEmail(tx, user, 'removed', clock.now());
      return user;
    });
  }
}

const unknownFactor = () => new DomainError('UNKNOWN_SECOND_FACTOR', 'There is no such second factor.');

/** Removes all lost second factors of another user on behalf of an administrator. */
export class ClearSecondFactors {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED, UNKNOWN_SECOND_FACTOR */
  async execute(caller: Caller, userId: UserId): Promise<void> {
    await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const user = await tx.users.find(caller.realmId, userId);
      enforce(canEndSessions(actor, user));
      // Administrators remove their own factors on the page, which requires the password.
      if (userId === caller.userId) throw new DomainError('NOT_PERMITTED', 'Insufficient permission');
      if (!(await clearSecondFactors(tx, user!))) throw unknownFactor();
      await planEmail(tx, user!, 'cleared', this.clock.now());
    });
  }
}

/** Removes all second factors of a user on behalf of the operator. Returns false if there were none. */
export class OperatorClearsSecondFactors {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  execute({ realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId }): Promise<boolean> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      const isCleared = await clearSecondFactors(tx, user);
      if (isCleared) await planEmail(tx, user, 'cleared', this.clock.now());
      return isCleared;
    });
  }
}

const SENTENCES = {
  added: 'A second factor was added to your account {email} at {organization}.',
  removed: 'A second factor was removed from your account {email} at {organization}.',
  cleared: 'An administrator removed all second factors from your account {email} at {organization}.',
} as const;

interface FactorNotice {
  readonly userId: UserId;
  readonly change: keyof typeof SENTENCES;
}

const SECOND_FACTOR_EMAIL = emailJobKind<FactorNotice>({
  name: 'membership.second_factor_email',
  readPayload: (stored) => {
    const { userId, change } = stored as Partial<FactorNotice>;
    if (!isId(userId) || change === undefined || !Object.hasOwn(SENTENCES, change))
      throw new TypeError('Job payload has no user id or known change');
    return { userId, change };
  },
});

async function planEmail(
  tx: Transaction,
  { realmId, id: userId }: User,
  change: FactorNotice['change'],
  dueAt: UnixSeconds,
): Promise<void> {
  await tx.jobs.schedule(encodeJob(SECOND_FACTOR_EMAIL, { realmId, dueAt, payload: { userId, change } }));
}

/** Emails users about second factor changes, which others may have made. */
export class SendSecondFactorEmails extends EmailJobs<FactorNotice> {
  static readonly inject = [...EMAIL_PORTS] as const;
  readonly kind = SECOND_FACTOR_EMAIL;

  protected async compose({ realmId, payload: { userId, change } }: Job<FactorNotice>): Promise<Email | null> {
    const { realm, user } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, userId),
    }));
    if (!user?.isActive || realm.isDeactivated) return null;
    const url = this.realmUrls.urlOf(realm);
    const { name } = realm;
    const { language, t } = this.wordsFor(user, realm);
    return composeEmail({
      to: user.email,
      senderName: name,
      language,
      subject: t('Second factor of your account at {name}', { name }),
      paragraphs: [
        t(SENTENCES[change], { email: user.email, organization: `${name} (${url})` }),
        t('If you did not expect this, set a new password immediately and check the second factors of your account.'),
      ],
      link: { label: t('Second factors of your account'), url: `${url}/accounts/second-factor/` },
    });
  }
}
