import { RateLimiter, type RateLimitRules } from '@parley/http';
import {
  CallExchange,
  DailyChannelQuota,
  EmailLimits,
  IncomingEmailLimits,
  LoginAttemptLimits,
  VisitorBytes,
  VisitorLimits,
} from '../../http/quotas.js';
import { Adapter } from '../adapter.js';

export interface LimitOptions {
  readonly hasRateLimits: boolean;
  /** Quotas that replace the defaults. */
  readonly rateLimitRules?: RateLimitRules;
}

/** Rate limits, and the quotas that they count. */
export const limits = ({ hasRateLimits: isOn, rateLimitRules: rules = {} }: LimitOptions) =>
  new Adapter({
    limiter: ({ get }) => new RateLimiter({ clock: get('clock'), isOn, rules }),
    callExchange: ({ get }) => new CallExchange(get('storage'), get('limiter'), get('clock')),
    loginAttempts: ({ get }) => new LoginAttemptLimits(get('limiter'), get('callExchange'), get('secret')),
    channelQuota: ({ get }) => new DailyChannelQuota(get('limiter'), get('callExchange'), get('clock')),
    visitorQuota: ({ resolve }) => resolve(VisitorLimits),
    visitorUploads: ({ get }) => new VisitorBytes(get('clock')),
    emailQuota: ({ resolve }) => resolve(EmailLimits),
    incomingEmailQuota: ({ resolve }) => resolve(IncomingEmailLimits),
    spectatedFiles: ({ get }) => {
      const limiter = get('limiter');
      return {
        count: ({ id }) => {
          if (limiter.isOn) limiter.attempt('spectator_attachment_access_by_file', String(id));
        },
      };
    },
  });
