import { loginAttemptKey } from '@parley/domain/access';
import type { EventListener, EventOf, RealmId, StoredEvent } from '@parley/domain/kernel';
import { ipGroup, type LimitRule, type RateLimiter } from '@parley/http';

const BY_USER = [
  'api_by_user',
  'events_by_user',
  'upload_parts_by_user',
  'email_change_by_user',
  'login_letters_by_user',
  'channel_creation_by_user',
  'channel_creation_by_administrator',
] as const satisfies readonly LimitRule[];
const BY_EMAIL = [
  'authenticate_by_username',
  'password_reset_form_by_email',
  'sign_up_form_by_email',
] as const satisfies readonly LimitRule[];
const BY_ADDRESS = ['api_by_ip', 'sends_email_by_ip'] as const satisfies readonly LimitRule[];

/** Forgets calls that were counted in this process when the operator asks for it, in whichever process they do. */
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
    if (email !== null) for (const rule of BY_EMAIL) this.limiter.forget(rule, loginAttemptKey(realmId, email));
    if (ip !== null) for (const rule of BY_ADDRESS) this.limiter.forget(rule, ipGroup(ip));
  }
}
