import { isIP } from 'node:net';
import type { S3Location } from '@parley/blobs';
import { EMAIL_TOKEN_PLACEHOLDER } from '@parley/domain/channels';
import { isEmailAddress } from '@parley/domain/users';
import { type ProxyTrust, parseNetworks } from '@parley/http';
import { type ProxySettings, parseProxyUrl, proxySettingsOf } from '@parley/node-adapters';
import { hostsOf } from '@parley/storage';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import { isMarkedSecret, parseMarkedSecret } from '../kernel/secret-format.js';
import { UsageError } from '../kernel/startup-error.js';
import {
  type DatabaseLocation,
  type FilesLocation,
  type ListenAddress,
  LOG_LEVELS,
  type LogLevel,
} from './configuration.js';

export function parseSwitch(text: string): boolean {
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

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error('a number from 0 to 65535');
  return Number(text);
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
    const parsed = URL.canParse(host) ? new URL(host) : null;
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
  if (!URL.canParse(text)) throw new Error(expected);
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text);
  if (!['http:', 'https:'].includes(protocol) || search || hash || username || password) throw new Error(expected);
  return origin + pathname.replace(/\/+$/, '');
}

export function parseRealmAddresses(text: string): RealmAddresses {
  if (text === 'host' || text === 'path') return text;
  throw new Error('host or path');
}

/** Parses a word that is safe to use in an HTTP header. */
export function parseWord(text: string): string {
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(text))
    throw new Error('printable ASCII characters without spaces and colons');
  return text;
}

export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  try {
    return { host: parseHost(bracketed ?? plain ?? ''), port: parsePort(port ?? '') };
  } catch {
    throw new Error('an address and a port, such as 127.0.0.1:9464');
  }
}

export function parseSeconds(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error('a number of seconds from 0 to 999');
  return Number(text);
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error('a number from 1 to 9999999');
  return Number(text);
}

export function parseDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error('a number of days from 0 to 9999');
  return Number(text);
}

export function parseProxies(text: string): ProxyTrust {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const networks = parseNetworks(text);
  if (networks) return networks;
  try {
    return parseSwitch(text) ? 1 : 0;
  } catch {
    throw new Error('the number of trusted proxies, their networks (10.0.0.0/8,loopback), on (one) or off (none)');
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

/** Parses exact origins of web pages, separated by commas. */
export function parseFrameAncestors(text: string): readonly string[] {
  const origins = text.split(',').map((part) => part.trim());
  const isOrigin = (origin: string) =>
    /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
  if (!origins.every(isOrigin)) throw new Error('origins such as https://example.com, without a trailing slash');
  return origins;
}

const MIN_JWT_SECRET_BYTES = 32;

/** Requires at least the output size of the weakest allowed hash (RFC 7518, section 3.2). */
export function parseJwtSecrets(text: string): ReadonlyMap<string, string> {
  const expected = `JSON such as {"STRING_ID": "SECRET"} with secrets of ${MIN_JWT_SECRET_BYTES} bytes or more`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(expected);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(expected);
  const entries = Object.entries(value);
  if (entries.some(([, secret]) => typeof secret !== 'string' || Buffer.byteLength(secret) < MIN_JWT_SECRET_BYTES)) {
    throw new Error(expected);
  }
  return new Map(entries);
}

export function parseSmtpUrl(text: string): string {
  const isUrl = URL.canParse(text) && ['smtp:', 'smtps:'].includes(new URL(text).protocol) && new URL(text).hostname;
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

export function parseLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((it) => it === text);
  if (!level) throw new Error(LOG_LEVELS.join(' or '));
  return level;
}
