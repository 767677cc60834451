import { isKnownNetwork, type LoginAttempts, rememberNetwork, secondFactorAttemptKey } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { loadOpenRealm } from '../membership/sign-up.js';
import type { Realm } from '../realms/realm.js';
import {
  accountDeactivated,
  authenticationFailed,
  PasswordCheck,
  type PasswordLogIn,
  passwordAuthDisabled,
  unknownRealm,
  userOfPassword,
} from '../users/authentication.js';
import {
  type OneTimeCodes,
  ownerOf,
  type PasskeyProtocol,
  type SecondFactorSecrets,
  type SecondFactors,
  wrongSecondFactor,
} from '../users/second-factors.js';
import type { User } from '../users/user.js';
import {
  completeFlow,
  type FlowScope,
  LogInCompletion,
  type LogInResult,
  logInExpired,
  openFlow,
  passwordMark,
  sealFlow,
} from './finish-log-in.js';
import { LOG_IN_SECONDS, type LogInPurpose, type LogInTokens } from './log-in-methods.js';

/** Time limit for setting up a second factor, which may include installing an app. */
export const SET_UP_SECONDS = 900;

/** Proof that the browser is the one that began the log-in. */
export interface StepKey {
  readonly state: string;
  /** Cookie of the browser; null if it sent none. */
  readonly browser: string | null;
}

/** State after the correct password. */
interface AfterPassword {
  readonly userId: UserId;
  /** `done`: set up during this log-in. `manage`: already logged in. */
  readonly step: 'verify' | 'setUp' | 'done' | 'manage';
  readonly purpose: LogInPurpose;
  /** Fingerprint of the password hash, since changing the password ends the flow; null for a directory password. */
  readonly password: string | null;
  readonly expiresAt: UnixSeconds;
}

export interface Step extends AfterPassword {
  readonly realm: Realm;
  readonly user: User;
  readonly passwordHash: string | null;
  readonly factors: SecondFactors;
}

/** Binds a flow to the browser in which it began. */
const scopeOf = (kind: 'password' | 'passkey', realmId: RealmId, browser: string): FlowScope => [
  kind,
  realmId,
  browser,
];

/** Marker recorded when a second factor was set up during the log-in. */
const setUpIn = (state: string): string => `set up in ${state}`;

/** Flows of people who prove or change their second factors after the password. */
export class SecondSteps {
  static readonly inject = ['unitOfWork', 'logInTokens', 'realmUrls', 'clock'] as const;
  constructor(
    readonly uow: UnitOfWork,
    readonly tokens: LogInTokens,
    private readonly realmUrls: RealmUrls,
    readonly clock: Clock,
  ) {}

  /** Begins the flow after the correct password and returns its state. */
  begin({
    user: { realmId, id: userId },
    browser,
    hash,
    step,
    purpose,
  }: Pick<AfterPassword, 'step' | 'purpose'> & {
    readonly user: Pick<User, 'realmId' | 'id'>;
    readonly browser: string;
    /** Null for a directory password. */
    readonly hash: string | null;
  }): string {
    const flow: AfterPassword = {
      userId,
      step,
      purpose,
      password: passwordMark(this.tokens, hash),
      expiresAt: this.clock.now() + (step === 'verify' ? LOG_IN_SECONDS : SET_UP_SECONDS),
    };
    return sealFlow(this.tokens, scopeOf('password', realmId, browser), flow);
  }

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, USER_DEACTIVATED, LOG_IN_EXPIRED */
  async load(realmId: RealmId | null, { state, browser }: StepKey): Promise<Step> {
    const { tokens } = this;
    if (realmId === null) throw unknownRealm();
    return this.uow.read(realmId, async (repositories) => {
      const { logIns } = repositories;
      const realm = await loadOpenRealm(repositories, realmId);
      if (browser === null) throw logInExpired();
      const scope = scopeOf('password', realmId, browser);
      const now = this.clock.now();
      const after = await openFlow<AfterPassword>(repositories, tokens, scope, { sealed: state, now });
      const isSetUp = after.step === 'setUp' && (await logIns.isUsed(realmId, tokens.fingerprint(setUpIn(state))));
      const user = await repositories.users.find(realmId, after.userId);
      if (!user?.isActive) throw accountDeactivated();
      const passwordHash = await repositories.users.findPasswordHash(realmId, user.id);
      if (after.password !== null) {
        const isValid = passwordMark(tokens, passwordHash) === after.password;
        if (!isValid || !realm.settings.emailAuthentication) throw logInExpired();
      }
      const factors = await repositories.secondFactors.find(realmId, user.id);
      return { ...after, step: isSetUp ? 'done' : after.step, realm, user, passwordHash, factors };
    });
  }

  /** Records that the log-in has a second factor, which was just set up. */
  finishSetUp(tx: Transaction, { realm, expiresAt }: Step, { state }: StepKey): Promise<void> {
    return completeFlow(tx, this.tokens, realm.id, { sealed: setUpIn(state), expiresAt });
  }

  /** Site and challenge of passkeys in a flow. Hexadecimal is valid base64url too. */
  siteOf(realm: Realm, state: string) {
    return { challenge: this.tokens.derive(state, 'nonce'), url: this.realmUrls.urlOf(realm) };
  }
}

export interface FormLogInInput extends PasswordLogIn {
  readonly purpose: LogInPurpose;
  readonly userAgent: string;
  /** Browser cookie; the second step must use the same browser. */
  readonly browser: string;
}

/** Second step to which the form leads. */
export interface PendingStep {
  readonly kind: 'secondStep';
  readonly step: 'verify' | 'setUp';
  readonly state: string;
}

/** Logs in with a password in a browser, also on behalf of an app. */
export class LogInByForm {
  static readonly inject = [PasswordCheck, SecondSteps, LogInCompletion] as const;
  constructor(
    private readonly check: PasswordCheck,
    private readonly steps: SecondSteps,
    private readonly completion: LogInCompletion,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, RATE_LIMITED, USER_DEACTIVATED, REALM_DEACTIVATED,
   * PASSWORD_AUTH_DISABLED, SERVER_BUSY, AUTHENTICATION_FAILED
   */
  async execute(
    caller: AnonymousCaller,
    { purpose, userAgent, browser, ...input }: FormLogInInput,
  ): Promise<{ readonly user: User; readonly result: LogInResult | PendingStep }> {
    const { user, hash, isOwn, secondStep } = await userOfPassword(this.check, caller, input);
    if (secondStep === null) {
      const finished = { user, method: 'password', purpose, userAgent, passwordHash: hash };
      return { user, result: await this.completion.complete(caller, finished) };
    }
    const state = this.steps.begin({ step: secondStep, purpose, user, browser, hash: isOwn ? hash : null });
    return { user, result: { kind: 'secondStep', step: secondStep, state } };
  }
}

/** Form shown after the password. */
export interface SecondStepForm {
  readonly user: User;
  /** False if a second factor was set up during this log-in. */
  readonly asksForProof: boolean;
  readonly hasApp: boolean;
  /** Options for the browser; null without passkeys. */
  readonly passkeys: object | null;
  readonly purpose: LogInPurpose;
}

/** Loads the form for the second step. */
export class GetSecondStep {
  static readonly inject = [SecondSteps, 'passkeys'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly passkeys: PasskeyProtocol,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, USER_DEACTIVATED, LOG_IN_EXPIRED */
  async execute({ realmId }: AnonymousCaller, key: StepKey): Promise<SecondStepForm> {
    const { step, realm, user, factors, purpose } = await this.steps.load(realmId, key);
    if (step !== 'verify' && step !== 'done') throw logInExpired();
    const checks = { ...this.steps.siteOf(realm, key.state), verifiesPerson: false };
    const { passkeys } = factors;
    return {
      user,
      asksForProof: step === 'verify',
      hasApp: factors.app !== null,
      passkeys: passkeys.length > 0 ? await this.passkeys.requestOptions({ ...checks, passkeys }) : null,
      purpose,
    };
  }
}

/** `none`: the second factor was set up during this log-in. */
export type SecondFactorProof =
  | { readonly kind: 'app' | 'recovery'; readonly code: string }
  /** JSON from the browser. */
  | { readonly kind: 'passkey'; readonly response: string }
  | { readonly kind: 'none' };

export interface SecondStepInput extends StepKey {
  readonly proof: SecondFactorProof;
  readonly userAgent: string;
}

/** Consumes a proof. Returns false if it was used before. */
type UseUp = (tx: Transaction) => Promise<boolean>;

/** Proofs of second factors. */
export class SecondFactorProofs {
  static readonly inject = [SecondSteps, 'secondFactorSecrets', 'oneTimeCodes', 'passkeys'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly secrets: SecondFactorSecrets,
    private readonly codes: OneTimeCodes,
    private readonly passkeys: PasskeyProtocol,
  ) {}

  /** Returns null for a wrong proof. */
  async check({ user, realm, factors }: Step, state: string, proof: SecondFactorProof): Promise<UseUp | null> {
    const { realmId, id: userId } = user;
    const owner = ownerOf(user);
    if (proof.kind === 'recovery') {
      const fingerprint = this.secrets.fingerprint(proof.code, owner);
      return (tx) => tx.secondFactors.takeRecoveryCode(realmId, userId, fingerprint);
    }
    if (proof.kind === 'passkey') {
      const checks = { ...this.steps.siteOf(realm, state), verifiesPerson: false };
      const passkey = factors.passkeys.find(({ id }) => id === this.passkeys.idIn(proof.response));
      const counter = passkey ? await this.passkeys.verify(proof.response, passkey, checks) : null;
      if (!passkey || counter === null) return null;
      return (tx) => usePasskey(tx, realmId, passkey.id, counter);
    }
    const secret = proof.kind === 'app' && factors.app ? this.secrets.open(factors.app.secret, owner) : null;
    if (proof.kind !== 'app' || secret === null) return null;
    const at = { now: this.steps.clock.now(), lastStep: factors.app!.lastStep };
    const lastStep = await this.codes.stepOf(secret, proof.code, at);
    if (lastStep === null) return null;
    return async (tx) => {
      const { app } = await tx.secondFactors.find(realmId, userId);
      if (!app || app.lastStep >= lastStep) return false;
      await tx.secondFactors.putApp(realmId, userId, { ...app, lastStep });
      return true;
    };
  }
}

/** Completes a password log-in with a second factor. */
export class TakeSecondStep {
  static readonly inject = [SecondSteps, 'loginAttempts', SecondFactorProofs, LogInCompletion] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly attempts: LoginAttempts,
    private readonly proofs: SecondFactorProofs,
    private readonly completion: LogInCompletion,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, USER_DEACTIVATED, LOG_IN_EXPIRED, RATE_LIMITED,
   * WRONG_SECOND_FACTOR, AUTHENTICATION_FAILED
   */
  async execute(
    caller: AnonymousCaller,
    { proof, userAgent, ...key }: SecondStepInput,
  ): Promise<{ readonly user: User; readonly result: LogInResult }> {
    const { attempts } = this;
    const { uow, tokens, clock } = this.steps;
    const step = await this.steps.load(caller.realmId, key);
    const { user, purpose, passwordHash } = step;
    const { realmId } = user;
    if (step.step !== 'done' && step.step !== 'verify') throw logInExpired();
    const take = (useUp: UseUp) =>
      uow.write(realmId, async (tx) => {
        await completeFlow(tx, tokens, realmId, { sealed: key.state, expiresAt: step.expiresAt });
        if (!(await useUp(tx))) throw wrongSecondFactor();
      });
    if (step.step === 'done') await take(async () => true);
    else {
      const { ip } = caller;
      const isKnown = await uow.read(realmId, (reads) => isKnownNetwork(reads, attempts, user, ip));
      const account = secondFactorAttemptKey(realmId, user.email);
      await attempts.attempt(account, { ip, isKnown });
      const useUp = await this.proofs.check(step, key.state, proof);
      if (!useUp) throw wrongSecondFactor();
      await take(useUp);
      attempts.succeed(account, { ip, isKnown });
    }
    await rememberNetwork(uow, attempts, user, caller.ip, clock.now());
    const finished = { user, method: 'password', purpose, userAgent, passwordHash };
    return { user, result: await this.completion.complete(caller, finished) };
  }
}

/** Stores the counter of a passkey. Returns false if the passkey has been removed. */
async function usePasskey(tx: Transaction, realmId: RealmId, id: string, counter: number): Promise<boolean> {
  const passkey = await tx.secondFactors.findPasskey(realmId, id);
  if (passkey) await tx.secondFactors.putPasskey(realmId, { ...passkey, counter });
  return passkey !== null;
}

interface PasskeyLogIn {
  readonly purpose: LogInPurpose;
  readonly expiresAt: UnixSeconds;
}

export interface PasskeyLogInForm {
  readonly state: string;
  /** Options for the browser. */
  readonly options: object;
}

/** Begins a passkey-only log-in. */
export class BeginPasskeyLogIn {
  static readonly inject = [SecondSteps, 'passkeys'] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly passkeys: PasskeyProtocol,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED */
  async execute(
    { realmId }: AnonymousCaller,
    { purpose, browser }: { readonly purpose: LogInPurpose; readonly browser: string },
  ): Promise<PasskeyLogInForm> {
    if (realmId === null) throw unknownRealm();
    const { uow, tokens, clock } = this.steps;
    const realm = await uow.read(realmId, (repositories) => loadOpenRealm(repositories, realmId));
    if (!realm.settings.emailAuthentication) throw passwordAuthDisabled();
    const flow: PasskeyLogIn = { purpose, expiresAt: clock.now() + LOG_IN_SECONDS };
    const state = sealFlow(tokens, scopeOf('passkey', realmId, browser), flow);
    const checks = { ...this.steps.siteOf(realm, state), verifiesPerson: true };
    return { state, options: await this.passkeys.requestOptions({ ...checks, passkeys: null }) };
  }
}

export interface PasskeyLogInInput extends StepKey {
  /** JSON from the browser. */
  readonly response: string;
  readonly userAgent: string;
  /** Called with the email address of the passkey's owner, even if the log-in then fails. */
  readonly identified?: (account: string) => void;
}

/** Logs in with a passkey only, which proves both the device and the person. */
export class LogInByPasskey {
  static readonly inject = [SecondSteps, 'passkeys', LogInCompletion] as const;
  constructor(
    private readonly steps: SecondSteps,
    private readonly passkeys: PasskeyProtocol,
    private readonly completion: LogInCompletion,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED, LOG_IN_EXPIRED, USER_DEACTIVATED,
   * WRONG_SECOND_FACTOR
   */
  async execute(
    caller: AnonymousCaller,
    { state, browser, response, userAgent, identified }: PasskeyLogInInput,
  ): Promise<{ readonly user: User; readonly result: LogInResult }> {
    const { realmId } = caller;
    if (realmId === null) throw unknownRealm();
    const { uow, tokens, clock } = this.steps;
    const id = this.passkeys.idIn(response);
    const { realm, passkey, holder } = await uow.read(realmId, async (reads) => {
      const open = await loadOpenRealm(reads, realmId);
      if (!open.settings.emailAuthentication) throw passwordAuthDisabled();
      const found = id === null ? null : await reads.secondFactors.findPasskey(realmId, id);
      return { realm: open, passkey: found, holder: found && (await holderOf(reads, realmId, found.userId)) };
    });
    if (holder) identified?.(holder.user.email);
    if (browser === null) throw logInExpired();
    const scope = scopeOf('passkey', realmId, browser);
    const flow = await uow.read(realmId, (reads) =>
      openFlow<PasskeyLogIn>(reads, tokens, scope, { sealed: state, now: clock.now() }),
    );
    const checks = { ...this.steps.siteOf(realm, state), verifiesPerson: true };
    const counter = passkey && holder ? await this.passkeys.verify(response, passkey, checks) : null;
    if (!passkey || !holder || counter === null) throw wrongSecondFactor();
    if (!holder.user.isActive) throw accountDeactivated();
    const isLeft = await uow.write(realmId, async (tx) => {
      await completeFlow(tx, tokens, realmId, { sealed: state, expiresAt: flow.expiresAt });
      return usePasskey(tx, realmId, passkey.id, counter);
    });
    if (!isLeft) throw authenticationFailed();
    const { purpose } = flow;
    const finished = { user: holder.user, method: 'passkey', purpose, userAgent, passwordHash: holder.passwordHash };
    return { user: holder.user, result: await this.completion.complete(caller, finished) };
  }
}

/** Passkeys require a password: accounts without one log in elsewhere. */
async function holderOf(reads: Pick<Repositories, 'users'>, realmId: RealmId, userId: UserId) {
  const passwordHash = await reads.users.findPasswordHash(realmId, userId);
  const user = await reads.users.find(realmId, userId);
  return user && passwordHash !== null ? { user, passwordHash } : null;
}

export const noPassword = () =>
  new DomainError('NO_PASSWORD', 'Your account has no password, which a second factor would protect.');
