import { isIP } from 'node:net';
import type { S3Location } from '@parley/blobs';
import { EMAIL_TOKEN_PLACEHOLDER } from '@parley/domain/channels';
import { isParsableUrl } from '@parley/domain/kernel';
import { isEmailAddress } from '@parley/domain/users';
import {
  LIMIT_RULES,
  type LimitRule,
  type OptionalKey,
  type ProxyTrust,
  parseNetworks,
  parseRateLimitRules,
  type RateLimitRules,
} from '@parley/http';
import { type ProxySettings, parseProxyUrl, proxySettingsOf } from '@parley/node-adapters';
import { hostsOf } from '@parley/storage';
import { isMarkedSecret, parseMarkedSecret } from '../kernel/secret-format.js';
import { UsageError } from '../kernel/startup-error.js';
import {
  arrayOr,
  boolean,
  described,
  fromText,
  integer,
  jsonIn,
  listOf,
  object,
  oneOf,
  optional,
  recordOf,
  type SettingType,
  secret,
  text,
  unconverted,
  valueType,
} from '../kernel/values.js';
import { type DatabaseLocation, type FilesLocation, type ListenAddress, LOG_LEVELS } from './configuration.js';

const listIn = (text: string): readonly string[] => text.split(',').map((part) => part.trim());

function parseSwitch(text: string): boolean {
  const word = text.toLowerCase();
  if (['on', 'true', '1', 'yes'].includes(word)) return true;
  if (['off', 'false', '0', 'no'].includes(word)) return false;
  throw new Error('on or off');
}

export function parseHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw new Error('an address to listen on, such as 127.0.0.1');
  }
  return host;
}

export function parseDatabase(text: string): DatabaseLocation {
  if (/^postgres(ql)?:/.test(text)) return parsePostgres(text);
  // SQLite treats names with a leading colon specially, such as `:memory:`.
  const path = /^sqlite:([^:].*)$/.exec(text)?.[1];
  if (path === undefined) throw new Error('of the form sqlite:PATH or postgres://USER@HOST/NAME');
  return { kind: 'sqlite', path };
}

function parsePostgres(url: string): DatabaseLocation {
  for (const host of hostsOf(url)) {
    const parsed = isParsableUrl(host) ? new URL(host) : null;
    // Command lines and reports show the URL, so it must not contain a password.
    if (parsed?.password === '' && !parsed.searchParams.has('password')) continue;
    throw new Error('of the form postgres://USER@HOST/NAME, with the password in PGPASSWORD or the file PGPASSFILE');
  }
  return { kind: 'postgres', url };
}

/** Returns the URL of a database on PostgreSQL. */
export function parseReplica(text: string): string {
  const location = parseDatabase(text);
  if (location.kind === 'postgres') return location.url;
  throw new Error('of the form postgres://USER@HOST/NAME');
}

export function parseFiles(text: string): FilesLocation {
  const [, kind, rest] = /^(folder|s3):(.+)$/.exec(text) ?? [];
  if (kind === 'folder') return { kind, path: rest! };
  const bucket = kind === 's3' ? parseBucket(rest!) : null;
  if (!bucket) throw new Error('of the form folder:PATH, or s3:BUCKET/PREFIX?endpoint=URL&region=NAME');
  return { kind: 's3', ...bucket };
}

/** Parses a bucket; null if the text is not a bucket URL. */
export function parseBucket(text: string): Omit<S3Location, 'credentials'> | null {
  const [, bucket, path = '', query = ''] =
    /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?(?:\?(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return null;
  const options = new URLSearchParams(query);
  const { endpoint = null, region = 'us-east-1', ...others } = Object.fromEntries(options) as Record<string, string>;
  if (Object.keys(others).length > 0) return null;
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  return { bucket, prefix, endpoint: endpoint === null ? null : parseUrl(endpoint), region };
}

export function parseUrl(text: string): string {
  const expected = 'an address such as https://chat.example.com';
  if (!isParsableUrl(text)) throw new Error(expected);
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text);
  if (!['http:', 'https:'].includes(protocol) || search || hash || username || password) throw new Error(expected);
  return origin + pathname.replace(/\/+$/, '');
}

/** Parses a word that is safe to use in an HTTP header. */
export function parseWord(text: string): string {
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(text))
    throw new Error('printable ASCII characters without spaces and colons');
  return text;
}

function portOf(digits: string): number {
  if (digits === '' || PORT.check(Number(digits))) throw new Error('a port');
  return Number(digits);
}

export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  try {
    return { host: parseHost(bracketed ?? plain ?? ''), port: portOf(port ?? '') };
  } catch {
    throw new Error('an address and a port, such as 127.0.0.1:9464');
  }
}

export function parseWebhookNetworks(text: string): readonly string[] {
  const networks = parseNetworks(text);
  if (!networks) throw new Error('networks such as 10.0.0.0/8,loopback');
  return networks;
}

export function parseOutgoingProxy(text: string): string {
  if (text === 'off') return text;
  try {
    return parseProxyUrl(text);
  } catch (error) {
    throw new Error(`off, or ${(error as Error).message}`);
  }
}

/** @throws UsageError for an invalid variable of the environment */
export function outgoingProxyOf(setting: string | null, environment: NodeJS.ProcessEnv): ProxySettings {
  try {
    return proxySettingsOf(setting, environment);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`);
  }
}

/** Shorter secrets could be guessed. */
const MIN_SECRET_LENGTH = 8;

export function parseSecret(text: string): string {
  if (isMarkedSecret(text)) {
    const secret = parseMarkedSecret(text);
    if (secret === null) throw new Error('undamaged; its checksum does not match');
    return secret;
  }
  if (text.length < MIN_SECRET_LENGTH) throw new Error(`at least ${MIN_SECRET_LENGTH} characters long`);
  return text;
}

export function parseAudience(text: string): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(text)) throw new Error('letters, digits and punctuation, without blanks');
  return text;
}

export function parseSmtpUrl(text: string): string {
  const isUrl = isParsableUrl(text) && ['smtp:', 'smtps:'].includes(new URL(text).protocol) && new URL(text).hostname;
  if (!isUrl) throw new Error('a mail server such as smtp://user:password@mail.example.com:587');
  return text;
}

/** Shorter tokens could be guessed. */
const MIN_TOKEN_LENGTH = 32;

export function parseToken(text: string): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(text) || text.length < MIN_TOKEN_LENGTH) {
    throw new Error(`at least ${MIN_TOKEN_LENGTH} printable ASCII characters without blanks`);
  }
  return text;
}

export function parseMailAddress(text: string): string {
  if (!isEmailAddress(text)) throw new Error('an address such as chat@example.com');
  return text;
}

/** Parses the operator's contact for requests to push services (RFC 8292). */
export function parseContact(text: string): string {
  if (!/^(?:mailto:\S+@\S+|https:\/\/\S+)$/.test(text)) throw new Error('mailto: with an address, or an https URL');
  return text;
}

export function parseMailPattern(text: string): string {
  const parts = text.split(EMAIL_TOKEN_PLACEHOLDER);
  if (parts.length !== 2 || !isEmailAddress(parts.join('x'))) {
    throw new Error(`an address that contains ${EMAIL_TOKEN_PLACEHOLDER} once, such as chat+%s@example.com`);
  }
  return text;
}

/** Types of values that are not only text. */

export const ON_OFF = unconverted(fromText(boolean(), parseSwitch));
export const PORT = unconverted(integer({ min: 0, max: 65_535 }));
export const COUNT = unconverted(integer({ min: 1, max: 9_999_999 }));
export const SECONDS = unconverted(integer({ min: 0, max: 999 }));
export const DAYS = unconverted(integer({ min: 0, max: 9999 }));
export const PATH = unconverted(described(text({ min: 1, max: 4096 }), 'the path of a file'));
export const REALM_ADDRESSES = unconverted(oneOf(['host', 'path']));
export const LOG_LEVEL = unconverted(oneOf(LOG_LEVELS));
export const STRING_ID = unconverted(
  described(text({ max: 100, pattern: /^[a-z\d-]*$/ }), 'the string id of an organization, such as shop'),
);

const ORIGIN = valueType<string>(
  'an origin such as https://example.com, without a trailing slash',
  (value) =>
    typeof value === 'string' && /^https?:/.test(value) && isParsableUrl(value) && new URL(value).origin === value,
);
const MAX_ORIGINS = 100;
export const FRAME_ANCESTORS = unconverted<readonly string[]>(fromText(listOf(ORIGIN, { max: MAX_ORIGINS }), listIn));

const NETWORK = valueType<string>(
  'a network such as 10.0.0.0/8',
  (value) => typeof value === 'string' && parseNetworks(value) !== null,
);
const MAX_NETWORKS = 100;

const PROXIES_EXPECTED = 'the number of trusted proxies, from 0 to 99, or their networks, such as 10.0.0.0/8,loopback';

/** Number of proxies from on, off or digits; else their networks. */
function proxiesIn(text: string): number | readonly string[] {
  if (/^\d+$/.test(text)) return Number(text);
  try {
    return parseSwitch(text) ? 1 : 0;
  } catch {
    if (parseNetworks(text) === null) throw new Error(PROXIES_EXPECTED);
    return listIn(text);
  }
}

export const PROXIES: SettingType<ProxyTrust> = {
  ...fromText(
    arrayOr(listOf(NETWORK, { max: MAX_NETWORKS }), integer({ min: 0, max: 99 }), PROXIES_EXPECTED),
    proxiesIn,
  ),
  convert: (value) =>
    typeof value === 'number' ? value : (value as readonly string[]).flatMap((text) => parseNetworks(text)!),
};

/** Each key stores as many call times as the largest limit. */
const QUOTA = object({ windowSeconds: integer({ min: 1, max: 999_999_999 }), limit: integer({ min: 1, max: 10_000 }) });
const QUOTAS = listOf(QUOTA, { max: 5, notEmpty: true });
export const RATE_LIMIT_RULES = unconverted<RateLimitRules>(
  fromText(
    object(
      Object.fromEntries(Object.keys(LIMIT_RULES).map((rule) => [rule, optional(QUOTAS)])) as Record<
        LimitRule,
        OptionalKey<{ windowSeconds: number; limit: number }[]>
      >,
    ),
    parseRateLimitRules,
  ),
);

/** Output size of the weakest allowed hash (RFC 7518, section 3.2). */
const MIN_JWT_SECRET_BYTES = 32;
const JWT_SECRET = secret(
  valueType<string>(
    `a secret of ${MIN_JWT_SECRET_BYTES} bytes or more`,
    (value) => typeof value === 'string' && Buffer.byteLength(value) >= MIN_JWT_SECRET_BYTES,
  ),
);

export const JWT_SECRETS: SettingType<ReadonlyMap<string, string>> = {
  ...fromText(
    recordOf(JWT_SECRET, { max: 10_000, maxKeyLength: 100 }),
    jsonIn(`{"STRING_ID": "SECRET"} with secrets of ${MIN_JWT_SECRET_BYTES} bytes or more`),
  ),
  convert: (value) => new Map(Object.entries(value as Readonly<Record<string, string>>)),
};
