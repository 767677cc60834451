/** At most `limit` calls in any `windowSeconds`. */
export interface Quota {
  readonly windowSeconds: number;
  readonly limit: number;
}

const DAY = 86_400;

/**
 * Defaults of the API. All quotas of a rule apply. Our own are `events_by_user` and `upload_parts_by_user`, which keep long polls
 * and parts of files from using up everything else, `channel_creation_by_*`, which count channels instead of calls, and `sign_up_form_by_email` and
 * `login_letters_by_user`, which count letters.
 */
export const LIMIT_RULES = {
  api_by_user: [{ windowSeconds: 60, limit: 200 }],
  events_by_user: [{ windowSeconds: 60, limit: 200 }],
  upload_parts_by_user: [{ windowSeconds: 60, limit: 600 }],
  api_by_ip: [{ windowSeconds: 60, limit: 100 }],
  authenticate_by_username: [{ windowSeconds: 1800, limit: 5 }],
  email_change_by_user: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  password_reset_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  sign_up_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  login_letters_by_user: [{ windowSeconds: 3600, limit: 5 }],
  sends_email_by_ip: [{ windowSeconds: DAY, limit: 5 }],
  channel_creation_by_user: [{ windowSeconds: DAY, limit: 1000 }],
  channel_creation_by_administrator: [{ windowSeconds: DAY, limit: 10_000 }],
  spectator_attachment_access_by_file: [{ windowSeconds: DAY, limit: 1000 }],
} as const satisfies Readonly<Record<string, readonly Quota[]>>;

export type LimitRule = keyof typeof LIMIT_RULES;

/** Quotas of rules instead of the default ones. */
export interface RateLimitRules extends Partial<Readonly<Record<LimitRule, readonly Quota[]>>> {}

const overrides = new Map<string, readonly Quota[] | undefined>();

/** A user's own quotas, `"60:1000,3600:20000"` (seconds:calls). Undefined when there are none or they cannot be read. */
export function parseQuotas(text: string | undefined): readonly Quota[] | undefined {
  if (!text) return undefined;
  if (!overrides.has(text)) {
    if (overrides.size >= 1000) overrides.clear();
    const quotas = text.split(',').map((part) => {
      const [, windowSeconds, limit] = /^\s*(\d{1,9}):(\d{1,6})\s*$/.exec(part) ?? [];
      return { windowSeconds: Number(windowSeconds), limit: Number(limit) };
    });
    const makesSense = quotas.every(({ windowSeconds, limit }) => windowSeconds > 0 && limit > 0);
    overrides.set(text, makesSense ? quotas : undefined);
  }
  return overrides.get(text);
}

/** Of what an operator sets: each key is counted by as many times as the largest limit says. */
const MAX_CONFIGURED_CALLS = 10_000;
const MAX_CONFIGURED_QUOTAS = 5;

/**
 * What an operator sets, `"api_by_user=60:500,3600:9000 api_by_ip=60:50"` (rule=seconds:calls).
 * @throws Error that says what would be right
 */
export function parseRateLimitRules(text: string): RateLimitRules {
  const rules: Partial<Record<LimitRule, readonly Quota[]>> = {};
  for (const part of text.trim().split(/\s+/)) {
    const [, name = '', value] = /^(\w+)=(.+)$/.exec(part) ?? [];
    const rule = (Object.keys(LIMIT_RULES) as LimitRule[]).find((it) => it === name);
    const quotas = parseQuotas(value);
    if (!rule) throw new Error(`rules as in api_by_user=60:500, each one of ${Object.keys(LIMIT_RULES).join(', ')}`);
    if (!quotas || quotas.length > MAX_CONFIGURED_QUOTAS || quotas.some(({ limit }) => limit > MAX_CONFIGURED_CALLS)) {
      throw new Error(
        `rules as in ${rule}=60:500,3600:9000 (seconds:calls), with at most ${MAX_CONFIGURED_QUOTAS} pairs and ${MAX_CONFIGURED_CALLS} calls`,
      );
    }
    rules[rule] = quotas;
  }
  return rules;
}
