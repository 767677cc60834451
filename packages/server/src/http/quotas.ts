import { createHmac, randomUUID } from 'node:crypto';
import {
  type Actor,
  type EmailQuota,
  type EmailRule,
  isAdministrator,
  type LoginAttempts,
  type LoginSource,
  loginAttemptKey,
  secondFactorAttemptKey,
} from '@parley/domain/access';
import type { ChannelQuota } from '@parley/domain/channels';
import type { VisitorUploads } from '@parley/domain/files';
import type { Clock, EventListener, EventOf, RealmId, StoredEvent, UnitOfWork } from '@parley/domain/kernel';
import type { VisitorQuota } from '@parley/domain/log-in';
import type { IncomingEmailQuota, IncomingEmailRule } from '@parley/domain/push';
import { ipGroup, keyFrom, type LimitRule, networkOf, type RateLimiter, rateLimited } from '@parley/http';

const BY_USER = [
  'api_by_user',
  'events_by_user',
  'upload_parts_by_user',
  'email_change_by_user',
  'login_letters_by_user',
  'channel_creation_by_user',
  'channel_creation_by_administrator',
] as const satisfies readonly LimitRule[];
const BY_EMAIL_AND_NETWORK = [
  'authenticate_by_username',
  'authenticate_from_known_network',
  'failed_logins_from_known_network',
  'password_reset_form_by_email',
] as const satisfies readonly LimitRule[];
const BY_EMAIL = [
  'failed_logins_by_username',
  'password_reset_letters_by_email',
  'sign_up_form_by_email',
] as const satisfies readonly LimitRule[];
const BY_ADDRESS = [
  'api_by_ip',
  'pages_by_ip',
  'failed_logins_by_ip',
  'sends_email_by_ip',
] as const satisfies readonly LimitRule[];

/** Maximum rows per exchange; the rest wait for the next one. */
const COUNTS_AT_A_TIME = 1000;

const SHARED = { shared: { kind: 'calls' } } as const;

/**
 * Exchanges call counts between the servers of a database. After startup, a server first adds all counts that are still
 * in their window. Runs every second, and immediately after log-ins and new channels.
 */
export class CallExchange {
  private readonly server = randomUUID();
  private readUpTo = 0;
  private current = Promise.resolve();
  private next: Promise<void> | null = null;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  /** Callers during an exchange share the next one. */
  run(): Promise<void> {
    this.next ??= this.current
      // Each caller gets only the error of its exchange.
      .catch(() => {})
      .then(() => {
        this.next = null;
        this.current = this.exchange();
        return this.current;
      });
    return this.next;
  }

  private async exchange(): Promise<void> {
    if (!this.limiter.isOn) return;
    if (this.limiter.takeReset()) await this.uow.writeAcross((tx) => tx.callCounts.removeAll(), SHARED);
    const counted = this.limiter.takeCounts(COUNTS_AT_A_TIME);
    if (counted.length > 0) await this.uow.writeAcross((tx) => tx.callCounts.add(this.server, counted), SHARED);
    for (let read = COUNTS_AT_A_TIME; read === COUNTS_AT_A_TIME; ) {
      const others = await this.uow.readAcross(({ callCounts }) =>
        callCounts.listOfOthers(this.server, this.readUpTo, COUNTS_AT_A_TIME),
      );
      const now = this.clock.now();
      for (const calls of others) if (calls.expiresAt > now) this.limiter.addCounts(calls);
      this.readUpTo = others.at(-1)?.id ?? this.readUpTo;
      read = others.length;
    }
  }

  async removeExpired(): Promise<void> {
    const remove = () =>
      this.uow.writeAcross((tx) => tx.callCounts.removeExpired(this.clock.now(), COUNTS_AT_A_TIME), SHARED);
    while ((await remove()) === COUNTS_AT_A_TIME);
  }
}

/** Resets the call counts of this process when an operator requests a reset in any process. */
export class LimitReset implements EventListener {
  static readonly inject = ['limiter'] as const;
  constructor(private readonly limiter: RateLimiter) {}

  onEvents(events: readonly StoredEvent[]): void {
    for (const { realmId, event } of events) {
      if (event.type === 'realm.limits_forgotten') this.forget(realmId, event);
    }
  }

  private forget(realmId: RealmId, { userId, email, ip }: EventOf<'realm.limits_forgotten'>): void {
    if (userId === null && ip === null) this.limiter.forgetAll();
    if (userId !== null) for (const rule of BY_USER) this.limiter.forget(rule, userId);
    if (email !== null) {
      const key = loginAttemptKey(realmId, email);
      for (const rule of BY_EMAIL) this.limiter.forget(rule, key);
      for (const rule of BY_EMAIL) this.limiter.forget(rule, secondFactorAttemptKey(realmId, email));
      for (const rule of BY_EMAIL_AND_NETWORK) this.limiter.forgetStarting(rule, `${key} `);
    }
    if (ip !== null) for (const rule of BY_ADDRESS) this.limiter.forget(rule, ipGroup(ip));
  }
}

const ruleFor = (actor: Actor): LimitRule =>
  isAdministrator(actor) ? 'channel_creation_by_administrator' : 'channel_creation_by_user';

/** Subject to rate limiting, so disabling rate limits disables the quota. */
export class DailyChannelQuota implements ChannelQuota {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly exchange: Pick<CallExchange, 'run'>,
    private readonly clock: Clock,
  ) {}

  refresh(): Promise<void> {
    return this.exchange.run();
  }

  spend(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    const rule = ruleFor(actor);
    const state = this.limiter.peek(rule, actor.id);
    if (state.remaining < count) {
      // If the remaining quota is too small, retry when the whole quota is available again.
      const untilAll = (state.resetMs - this.clock.nowMs()) / 1000;
      throw rateLimited({ ...state, retryAfterSeconds: state.retryAfterSeconds || untilAll });
    }
    for (let spent = 0; spent < count; spent++) this.limiter.hit(rule, actor.id);
    // Runs concurrently with the unit; the next exchange retries after a failure.
    this.exchange.run().catch(() => {});
  }

  refund(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    for (let refunded = 0; refunded < count; refunded++) this.limiter.withdraw(ruleFor(actor), actor.id);
  }
}

/** Subject to rate limiting, so disabling rate limits disables these limits. */
export class LoginAttemptLimits implements LoginAttempts {
  private readonly networkKey: Buffer;

  constructor(
    private readonly limiter: RateLimiter,
    private readonly exchange: Pick<CallExchange, 'run'>,
    secret: string,
  ) {
    this.networkKey = createHmac('sha256', secret).update('parley: networks of logins').digest();
  }

  networkOf(ip: string): string {
    return createHmac('sha256', this.networkKey).update(ipGroup(ip)).digest('base64url');
  }

  async attempt(account: string, source: LoginSource): Promise<void> {
    if (!this.limiter.isOn) return;
    await this.exchange.run();
    this.count(account, source);
    await this.exchange.run();
  }

  private count(account: string, source: LoginSource): void {
    const counted: Counter[] = [];
    try {
      for (const counter of countersOf(account, source)) {
        this.limiter.attempt(...counter);
        counted.push(counter);
      }
    } catch (error) {
      for (const [rule, key] of counted) this.limiter.withdraw(rule, key);
      throw error;
    }
  }

  withdraw(account: string, source: LoginSource): void {
    for (const [rule, key] of countersOf(account, source)) this.limiter.withdraw(rule, key);
  }

  succeed(account: string, source: LoginSource): void {
    const [first, ...others] = countersOf(account, source);
    this.limiter.forget(...first);
    // Not reset: otherwise the owner's successful log-ins would give an attacker further guesses.
    for (const [rule, key] of others) this.limiter.withdraw(rule, key);
  }

  forget(account: string, ip: string | undefined): void {
    this.limiter.forget(...countersOf(account, { ip, isKnown: false })[0]);
    for (const counter of countersOf(account, { ip, isKnown: true })) this.limiter.forget(...counter);
  }
}

type Counter = readonly [rule: LimitRule, key: string, source?: string | undefined];

/** Keys of known networks cannot be forged, so they have no source and never share counters. */
function countersOf(account: string, { ip, isKnown }: LoginSource): readonly [Counter, ...Counter[]] {
  const key = keyFrom(account, ip);
  if (isKnown) {
    return [
      ['authenticate_from_known_network', key],
      ['failed_logins_from_known_network', key],
    ];
  }
  const network = ip === undefined ? undefined : networkOf(ip);
  const source = ip === undefined ? undefined : (network ?? ipGroup(ip));
  const byAddress: readonly Counter[] = ip === undefined ? [] : [['failed_logins_by_ip', ipGroup(ip), network]];
  return [['authenticate_by_username', key, source], ['failed_logins_by_username', account, source], ...byAddress];
}

const RULES: Readonly<Record<EmailRule, LimitRule>> = {
  emailChangeByUser: 'email_change_by_user',
  passwordResetByEmail: 'password_reset_form_by_email',
  passwordResetFromElsewhere: 'password_reset_letters_by_email',
  signUpByEmail: 'sign_up_form_by_email',
  loginByUser: 'login_letters_by_user',
  anonymousByIp: 'sends_email_by_ip',
};

/** Email quota. Subject to rate limiting, so disabling rate limits disables it. */
export class EmailLimits implements EmailQuota {
  static readonly inject = ['limiter'] as const;
  constructor(private readonly limiter: RateLimiter) {}

  take(rule: EmailRule, key: string, ip?: string): void {
    this.limiter.attempt(RULES[rule], keyOf(rule, key, ip), sourceOf(rule, key, ip));
  }

  withdraw(rule: EmailRule, key: string, ip?: string): void {
    this.limiter.withdraw(RULES[rule], keyOf(rule, key, ip));
  }
}

/** Returns a key in the format of other rules of the same kind. */
function keyOf(rule: EmailRule, key: string, ip: string | undefined): string | number {
  if (rule === 'passwordResetByEmail') return keyFrom(key, ip);
  if (rule === 'anonymousByIp') return ipGroup(key);
  return rule.endsWith('ByUser') ? Number(key) : key;
}

/** Returns the network, since a client may use any address within it. */
function sourceOf(rule: EmailRule, key: string, ip: string | undefined): string | undefined {
  const from = rule === 'anonymousByIp' ? key : ip;
  if (from === undefined) return undefined;
  return networkOf(from) ?? (rule === 'anonymousByIp' ? undefined : ipGroup(from));
}

const INCOMING_RULES: Readonly<Record<IncomingEmailRule, LimitRule>> = {
  incomingEmailByRealm: 'incoming_email_by_realm',
  incomingEmailByAddress: 'incoming_email_by_address',
  incomingEmailBySender: 'incoming_email_by_sender',
};

/** Subject to rate limiting, so disabling rate limits disables the quota. */
export class IncomingEmailLimits implements IncomingEmailQuota {
  static readonly inject = ['limiter'] as const;
  constructor(private readonly limiter: RateLimiter) {}

  take(rule: IncomingEmailRule, key: string, source?: string): void {
    this.limiter.attempt(INCOMING_RULES[rule], key, source);
  }

  /** @throws HttpRefusal if the mail server connects too often */
  connect(ip: string): void {
    this.limiter.attempt('incoming_email_by_ip', ipGroup(ip));
  }
}

/** Subject to rate limiting, so disabling rate limits disables the quota. */
export class VisitorLimits implements VisitorQuota {
  static readonly inject = ['limiter'] as const;
  constructor(private readonly limiter: RateLimiter) {}

  take(realmId: RealmId, source: string | null): void {
    this.limiter.attempt('visitors_by_organization', realmId);
    if (source === null) return;
    try {
      this.limiter.attempt('visitors_by_address', `${realmId} ${ipGroup(source)}`, networkOf(source));
    } catch (error) {
      this.limiter.withdraw('visitors_by_organization', realmId);
      throw error;
    }
  }
}

const DAY_SECONDS = 86_400;

/** Counts of one server, lost at its restart. Not subject to rate limiting, since it protects the disk. */
export class VisitorBytes implements VisitorUploads {
  private day = 0;
  private readonly bytes = new Map<RealmId, number>();

  constructor(private readonly clock: Clock) {}

  bytesToday(realmId: RealmId): number {
    const day = Math.floor(this.clock.now() / DAY_SECONDS);
    if (this.day !== day) this.bytes.clear();
    this.day = day;
    return this.bytes.get(realmId) ?? 0;
  }

  add(realmId: RealmId, bytes: number): void {
    this.bytes.set(realmId, Math.max(0, this.bytesToday(realmId) + bytes));
  }
}
