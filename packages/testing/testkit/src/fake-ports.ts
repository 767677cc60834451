import type {
  Actor,
  ApiKeyMint,
  ApiKeyRecord,
  EmailQuota,
  EmailRule,
  HashRequest,
  LoginAttempts,
  LoginSource,
  NoticeTexts,
  PasswordHasher,
  PasswordStrength,
  SessionTokens,
} from '@parley/domain/access';
import type { ChannelQuota } from '@parley/domain/channels';
import {
  type DataValidator,
  DomainError,
  type EventLoop,
  type FollowedLog,
  type RealmUrls,
  type Timers,
} from '@parley/domain/kernel';
import type { DirectoryPasswords, DisposableDomains } from '@parley/domain/users';

// Minimal external ports for tests of other features.

/** Accepts all data. */
export const anyData: DataValidator = { schemaProblem: () => null, mismatch: () => null };

/** Maps every realm to `chat.example`. */
export const fakeRealmUrls: RealmUrls = {
  urlOf: ({ stringId }) => `https://${stringId}.chat.example`,
  emailDomainOf: () => 'chat.example',
};

/** Texts in English only. */
export const inEnglish: NoticeTexts =
  () =>
  (text, values = {}) =>
    text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));

/** Timers without delay: deferred work runs immediately. */
export const immediateTimers: Pick<Timers, 'after' | 'elapsedMs'> = {
  elapsedMs: () => 0,
  after: (_, run) => {
    run();
    return () => {};
  },
};

/** Event log without gaps. */
export const currentLog: FollowedLog = { isCurrent: () => true };

/** Yields once per call. */
export const fakeEventLoop: EventLoop = {
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Readable keys; for example, the first key of user 7 ends in `7g1`. */
export class FakeApiKeyMint implements ApiKeyMint {
  readonly secretFingerprint = 'plain';

  newSeed(): string {
    return 'seed';
  }

  derive({ userId, generation }: ApiKeyRecord): string {
    return `${userId}g${generation}`.padStart(32, '0');
  }

  fingerprint(apiKey: string): string {
    return `fingerprint of ${apiKey}`;
  }
}

/** Readable tokens: `token 1`, `token 2` … */
export class FakeSessionTokens implements SessionTokens {
  private made = 0;

  make(): string {
    return `token ${++this.made}`;
  }

  fingerprint(token: string): string {
    return `fingerprint of ${token}`;
  }

  csrfTokenOf(token: string): string {
    return `csrf of ${token}`;
  }
}

/** Records verifications, so that tests can check that each attempt costs a hash. */
export class FakePasswordHasher implements PasswordHasher {
  readonly verified: (readonly [password: string, hash: string | null])[] = [];
  readonly requests: HashRequest[] = [];
  isBusy = false;

  async hash(password: string): Promise<string> {
    return `hash of ${password}`;
  }

  async verify(password: string, hash: string | null, request: HashRequest = {}): Promise<boolean> {
    if (this.isBusy) throw new DomainError('SERVER_BUSY', 'busy', { retryAfter: 1 });
    this.requests.push(request);
    this.verified.push([password, hash]);
    return hash === `hash of ${password}`;
  }
}

/** Treats only passwords that contain `weak` or a known word as weak. */
export const fakePasswordStrength: PasswordStrength = {
  leastGuesses: (password, known) =>
    password.includes('weak') || known.some((word) => password.includes(word)) ? 10 : 10 ** 9,
};

/** Treats only `disposable.test` as disposable. */
export const fakeDisposableDomains: DisposableDomains = { has: (domain) => domain === 'disposable.test' };

/** Allows two attempts per account and kind of source. */
export class FakeLoginAttempts implements LoginAttempts {
  private readonly counts = new Map<string, number>();
  /** Sources of the attempts. */
  readonly sources: LoginSource[] = [];

  networkOf(ip: string): string {
    return `network of ${ip}`;
  }

  async attempt(account: string, source: LoginSource): Promise<void> {
    this.sources.push(source);
    const key = keyOfAttempt(account, source);
    const count = this.counts.get(key) ?? 0;
    if (count >= 2) throw new DomainError('RATE_LIMITED', 'Too many attempts', { retryAfter: 60 });
    this.counts.set(key, count + 1);
  }

  withdraw(account: string, source: LoginSource): void {
    const key = keyOfAttempt(account, source);
    this.counts.set(key, (this.counts.get(key) ?? 1) - 1);
  }

  succeed(account: string, source: LoginSource): void {
    this.counts.delete(keyOfAttempt(account, source));
  }

  forget(account: string): void {
    for (const isKnown of [true, false]) this.counts.delete(keyOfAttempt(account, { isKnown }));
  }
}

const keyOfAttempt = (account: string, { isKnown }: LoginSource): string => `${account} ${isKnown}`;

/** Limits emails per rule and key; unlimited by default. */
/** Organizations without an LDAP directory. */
export const noDirectoryPasswords: DirectoryPasswords = {
  isUsedBy: () => false,
  verify: async () => null,
};

export class FakeEmailQuota implements EmailQuota {
  private readonly counts = new Map<string, number>();

  constructor(private readonly each = Number.POSITIVE_INFINITY) {}

  take(rule: EmailRule, key: string): void {
    const count = this.counts.get(`${rule} ${key}`) ?? 0;
    if (count >= this.each) throw new DomainError('RATE_LIMITED', 'Too many emails', { retryAfter: 60 });
    this.counts.set(`${rule} ${key}`, count + 1);
  }

  withdraw(rule: EmailRule, key: string): void {
    this.counts.set(`${rule} ${key}`, (this.counts.get(`${rule} ${key}`) ?? 1) - 1);
  }
}

/** Limits channels per user permanently; unlimited by default. */
export class FakeChannelQuota implements ChannelQuota {
  private readonly spent = new Map<Actor['id'], number>();

  constructor(private readonly each = Number.POSITIVE_INFINITY) {}

  async refresh(): Promise<void> {}

  spend({ id }: Actor, count: number): void {
    const spent = (this.spent.get(id) ?? 0) + count;
    if (spent > this.each) throw new DomainError('RATE_LIMITED', 'Too many channels', { retryAfter: 60 });
    this.spent.set(id, spent);
  }

  refund({ id }: Actor, count: number): void {
    this.spent.set(id, this.spent.get(id)! - count);
  }
}
