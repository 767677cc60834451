import { firstOf } from '@parley/domain/kernel';
/** Maximum number of calls (`limit`) in any period of `windowSeconds`. */
export interface Quota {
  readonly windowSeconds: number;
  readonly limit: number;
}

const DAY = 86_400;

/**
 * Default limits of the API; all quotas of a rule apply.
 * Parley adds `events_by_user` and `upload_parts_by_user`, which isolate long polls and file parts. `pages_by_ip` lets
 * a thousand people behind one address log in within ten minutes. `failed_logins_by_ip` prevents password spraying.
 * `channel_creation_by_*` counts channels, `visitors_by_*` new visitors. `sign_up_form_by_email`, `login_letters_by_user` and `incoming_email_by_*`
 * count emails. `push_server_by_ip` counts registrations at a push service.
 * An account accepts at most 1,000 failed passwords a day: 30 an hour from networks new to it, and 20 a day from each
 * of its eight known networks.
 */
export const LIMIT_RULES = {
  api_by_user: [{ windowSeconds: 60, limit: 200 }],
  events_by_user: [{ windowSeconds: 60, limit: 200 }],
  upload_parts_by_user: [{ windowSeconds: 60, limit: 600 }],
  provisioning_by_organization: [{ windowSeconds: 60, limit: 2000 }],
  api_by_ip: [{ windowSeconds: 60, limit: 100 }],
  pages_by_ip: [
    { windowSeconds: 60, limit: 3000 },
    { windowSeconds: 600, limit: 10_000 },
  ],
  failed_logins_by_ip: [
    { windowSeconds: 60, limit: 100 },
    { windowSeconds: 3600, limit: 1000 },
  ],
  authenticate_by_username: [{ windowSeconds: 1800, limit: 5 }],
  authenticate_from_known_network: [{ windowSeconds: 1800, limit: 5 }],
  failed_logins_by_username: [{ windowSeconds: 3600, limit: 30 }],
  failed_logins_from_known_network: [{ windowSeconds: DAY, limit: 20 }],
  email_change_by_user: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  password_reset_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  password_reset_letters_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  sign_up_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  login_letters_by_user: [{ windowSeconds: 3600, limit: 5 }],
  api_by_remote_server: [{ windowSeconds: 60, limit: 1000 }],
  push_server_by_ip: [{ windowSeconds: DAY, limit: 10 }],
  incoming_email_by_ip: [{ windowSeconds: 60, limit: 120 }],
  incoming_email_by_realm: [
    { windowSeconds: 60, limit: 50 },
    { windowSeconds: 300, limit: 120 },
    { windowSeconds: 3600, limit: 600 },
  ],
  incoming_email_by_address: [
    { windowSeconds: 60, limit: 20 },
    { windowSeconds: 3600, limit: 200 },
  ],
  incoming_email_by_sender: [{ windowSeconds: 3600, limit: 100 }],
  sends_email_by_ip: [{ windowSeconds: DAY, limit: 5 }],
  channel_creation_by_user: [{ windowSeconds: DAY, limit: 1000 }],
  channel_creation_by_administrator: [{ windowSeconds: DAY, limit: 10_000 }],
  visitors_by_address: [
    { windowSeconds: 3600, limit: 10 },
    { windowSeconds: DAY, limit: 30 },
  ],
  visitors_by_organization: [{ windowSeconds: 3600, limit: 1000 }],
  spectator_attachment_access_by_file: [{ windowSeconds: DAY, limit: 1000 }],
} as const satisfies Readonly<Record<string, readonly Quota[]>>;

export type LimitRule = keyof typeof LIMIT_RULES;

/** Quotas that replace the defaults of a rule. */
export interface RateLimitRules extends Partial<Readonly<Record<LimitRule, readonly Quota[]>>> {}

const overrides = new Map<string, readonly Quota[] | undefined>();

/** Parses a user's own quotas, for example `"60:1000,3600:20000"` (seconds:calls). Undefined if empty or invalid. */
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

/**
 * Parses an operator setting such as `"api_by_user=60:500,3600:9000 api_by_ip=60:50"` (rule=seconds:calls), without
 * checking names and numbers. @throws Error that explains the expected format
 */
export function parseRateLimitRules(text: string): Readonly<Record<string, readonly Quota[]>> {
  const parts = text.trim().split(/\s+/);
  return Object.fromEntries(
    parts.map((part) => {
      const [, rule, quotas] = /^(\w+)=(\d+:\d+(?:,\d+:\d+)*)$/.exec(part) ?? [];
      if (rule === undefined) throw new Error('rules as in api_by_user=60:500,3600:9000 (seconds:calls)');
      const numbers = quotas!.split(',').map((quota) => quota.split(':').map(Number));
      return [rule, numbers.map(([windowSeconds, limit]) => ({ windowSeconds: windowSeconds!, limit: limit! }))];
    }),
  );
}

/** Maximum length, because proxies may send arbitrary text instead of an address. */
const MAX_ADDRESS_LENGTH = 45;

/**
 * Returns the /48 network of an IPv6 address, because one owner may have thousands of /64 groups. Undefined for IPv4,
 * where addresses are scarce.
 */
export function networkOf(ip: string): string | undefined {
  const group = ipGroup(ip);
  return group.endsWith('::/64') ? `${group.split(':').slice(0, 3).join(':')}::/48` : undefined;
}

/** Returns the group of addresses that share a limit: one IPv4 address or an IPv6 /64. */
export function ipGroup(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return mapped[1]!;
  if (!ip.includes(':')) return ip.slice(0, MAX_ADDRESS_LENGTH);
  const [head = '', tail] = firstOf(ip.toLowerCase().split('%')).split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.slice(0, 4).replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** Key of a rule that counts an account per network. */
export const keyFrom = (account: string, ip: string | undefined): string =>
  `${account} ${ip === undefined ? 'signed in' : ipGroup(ip)}`;
