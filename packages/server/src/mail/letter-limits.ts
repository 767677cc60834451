import type { LetterQuota, LetterRule } from '@parley/domain/access';
import { ipGroup, type LimitRule, networkOf, type RateLimiter } from '@parley/http';

const RULES: Readonly<Record<LetterRule, LimitRule>> = {
  emailChangeByUser: 'email_change_by_user',
  passwordResetByEmail: 'password_reset_form_by_email',
  signUpByEmail: 'sign_up_form_by_email',
  loginByUser: 'login_letters_by_user',
  anonymousByIp: 'sends_email_by_ip',
};

/** Counted in memory as calls are: a restart forgets it, and whoever turns rate limits off has no quota either. */
export class LetterLimits implements LetterQuota {
  static readonly inject = ['limiter'] as const;
  constructor(private readonly limiter: RateLimiter) {}

  take(rule: LetterRule, key: string, ip?: string): void {
    this.limiter.attempt(RULES[rule], keyOf(rule, key), sourceOf(rule, key, ip));
  }

  withdraw(rule: LetterRule, key: string, ip?: string): void {
    this.limiter.withdraw(RULES[rule], keyOf(rule, key), sourceOf(rule, key, ip));
  }
}

/** As the limiter's other rules of the same kind have their keys. */
function keyOf(rule: LetterRule, key: string): string | number {
  if (rule === 'anonymousByIp') return ipGroup(key);
  return rule.endsWith('ByUser') ? Number(key) : key;
}

/** Counted by network: one client may have any number of addresses in it. */
function sourceOf(rule: LetterRule, key: string, ip: string | undefined): string | undefined {
  const from = rule === 'anonymousByIp' ? key : ip;
  if (from === undefined) return undefined;
  return networkOf(from) ?? (rule === 'anonymousByIp' ? undefined : ipGroup(from));
}
