import type { IncomingMessage } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import { pieceOf, takeCodePoints } from '@parley/domain/kernel';

/** Self-reported client software. */
export interface ClientIdentity {
  /** At most 30 characters; shown with messages, for example `ZulipMobile`. */
  readonly name: string;
  readonly version: string | null;
}

const MAX_NAME_LENGTH = 30;
/** Same pattern as Zulip's user_agent.py. Its first two parts overlap, so the text is truncated before matching. */
const USER_AGENT = /^([^/ ]*[^0-9/(]*)(?:\/([^/ ]*))?(?:[ /].*)?$/s;
const MAX_USER_AGENT_LENGTH = 300;
const MAX_REMEMBERED = 1000;

const UNSPECIFIED: ClientIdentity = { name: 'Unspecified', version: null };
const remembered = new Map<string, ClientIdentity>();

/** Parses the leading product of a `User-Agent` header: `ZulipTerminal/0.7.0 ZulipPython/0.9.0` is ZulipTerminal. */
export function parseUserAgent(userAgent: string | undefined): ClientIdentity {
  if (userAgent === undefined) return UNSPECIFIED;
  const text = pieceOf(userAgent, 0, MAX_USER_AGENT_LENGTH).toWellFormed();
  let client = remembered.get(text);
  if (!client) {
    const [, name = '', version = null] = USER_AGENT.exec(text) ?? [];
    client = { name: truncateClientName(name), version };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(text, client);
  }
  return client;
}

const truncateClientName = (name: string): string => takeCodePoints(name, MAX_NAME_LENGTH);

/**
 * Returns the client name of messages: the `client` parameter, else `website` for browsers, else the User-Agent name.
 */
export function clientNameOf(client: ClientIdentity, parameter: string | undefined, isBrowserSession: boolean): string {
  if (parameter !== undefined) return truncateClientName(parameter);
  return isBrowserSession && !client.name.startsWith('Zulip') ? 'website' : client.name;
}

/** Form fields by name. A Map, so that a field named `__proto__` is harmless. */
export type Fields = ReadonlyMap<string, string>;

const NO_FIELDS: Fields = new Map();

/** Parameters of query and body; the body wins. Values are always well-formed text. */
export class Parameters {
  static readonly none = new Parameters(NO_FIELDS, NO_FIELDS);

  private readonly merged: Fields;

  constructor(
    private readonly query: Fields = NO_FIELDS,
    private readonly body: Fields = NO_FIELDS,
  ) {
    if (body.size === 0) this.merged = query;
    else if (query.size === 0) this.merged = body;
    else this.merged = new Map([...query, ...body]);
  }

  get(name: string): string | undefined {
    return this.merged.get(name)?.toWellFormed();
  }

  /** Returns the source of the effective value. */
  originOf(name: string): 'query' | 'body' | undefined {
    if (this.body.has(name)) return 'body';
    return this.query.has(name) ? 'query' : undefined;
  }

  /** Returns each name once, in unspecified order. */
  names(): Iterable<string> {
    return Array.from(this.merged.keys(), (name) => name.toWellFormed());
  }

  get size(): number {
    return this.merged.size;
  }
}

/** File part of a multipart body. */
export interface UploadedFile {
  /** Form field name; some clients put the file path there. */
  readonly field: string;
  readonly filename: string;
  /** Type claimed by the client. */
  readonly mimeType: string;
  /** Empty if the route stores files by streaming. */
  readonly content: Buffer;
  /** Stored bytes of the first file of a streaming route; null for oversized and further files. */
  readonly blob: ReceivedBlob | null;
  /**
   * True if the file exceeds the limit; `content` holds its beginning. The operation rejects the file with its own
   * error message.
   */
  readonly isTruncated: boolean;
}

/** Decoded values of named path segments; integers as canonical digits. */
export type PathParameters = Readonly<Record<string, string>>;

/** Request as seen by operations, independent of server and framework. */
export interface Request {
  /** Value of `X-Request-Id` or generated; repeated in response and log. */
  readonly id: string;
  /** Upper case, after override by the `method` form field. `HEAD` stays `HEAD`. */
  readonly method: string;
  /** Undecoded path without query, relative to the mount path: `/api/v1/users/me`. */
  readonly path: string;
  /** Undecoded query without question mark; may be empty. */
  readonly query: string;
  /** Lower case, without port. */
  readonly host: string;
  /**
   * Address that selects the organization: the host, or `/` and the first path segment if paths distinguish
   * organizations.
   */
  readonly realmAddress: string;
  /** Lower case, with the port if given. */
  readonly authority: string;
  /** True if received over TLS, as seen by this server or reported by a trusted proxy. */
  readonly isSecure: boolean;
  /** Client address, as reported by trusted proxies. */
  readonly ip: string;
  readonly client: ClientIdentity;
  readonly variant: ClientVariant;
  readonly pathParameters: PathParameters;
  readonly parameters: Parameters;
  readonly files: readonly UploadedFile[];
  /** Bytes of the body on routes that accept it unparsed; null on other routes. */
  readonly content: Buffer | null;
  /** Token that pages must return with cookie-authenticated changes, on routes that expose it. */
  readonly csrfToken: string | null;
  /** @param name lower-case name */
  header(name: string): string | undefined;
  /** Calls the listener once if the client disconnects before the response, or immediately if it already did. */
  onClose(listener: () => void): void;
  /** Calls the listener once the response is sent or the client disconnected. */
  onEnd(listener: () => void): void;
  /** True if the client disconnected before the response. */
  readonly isGone: boolean;
  /** Aborted if the client disconnects before the response. */
  readonly signal: AbortSignal;
  /** Original Node request, for host authentication and for operations that stream the body. */
  readonly raw: IncomingMessage;
}

export const CLIENT_VARIANTS = ['standard', 'zulip', 'zulip-terminal', 'zulip-mobile-before-pronouns'] as const;

/**
 * Older formats for clients still in use, chosen by User-Agent. This is the only place for such decisions; other code
 * reads these properties or caches by `key`.
 */
export interface ClientVariant {
  /** Clients with the same key receive identical bytes. */
  readonly key: (typeof CLIENT_VARIANTS)[number];
  /** Reaction type name of emoji added by the server; both names are accepted from all clients. */
  readonly extraEmojiType: 'service_extra_emoji' | 'zulip_extra_emoji';
  /** True if register repeats settings at the top level, as before feature level 89. */
  readonly hasLegacyRegisterFields: boolean;
  /** True if the client recognizes a lost queue only by its text, as zulip-term 0.7 does. */
  readonly hasOldQueueErrorText: boolean;
  /** True if pronouns profile fields are presented as short text. */
  readonly showsPronounsAsText: boolean;
}

const STANDARD: ClientVariant = {
  key: 'standard',
  extraEmojiType: 'service_extra_emoji',
  hasLegacyRegisterFields: false,
  hasOldQueueErrorText: false,
  showsPronounsAsText: false,
};
const ZULIP: ClientVariant = { ...STANDARD, key: 'zulip', extraEmojiType: 'zulip_extra_emoji' };
const ZULIP_TERMINAL: ClientVariant = {
  ...ZULIP,
  key: 'zulip-terminal',
  hasLegacyRegisterFields: true,
  hasOldQueueErrorText: true,
};
const OLD_ZULIP_MOBILE: ClientVariant = { ...ZULIP, key: 'zulip-mobile-before-pronouns', showsPronounsAsText: true };

/** First ZulipMobile version that supports pronouns fields (source: Zulip). */
const FIRST_MOBILE_WITH_PRONOUNS = [27, 192] as const;

const VARIANTS: Readonly<Record<ClientVariant['key'], ClientVariant>> = {
  standard: STANDARD,
  zulip: ZULIP,
  'zulip-terminal': ZULIP_TERMINAL,
  'zulip-mobile-before-pronouns': OLD_ZULIP_MOBILE,
};

/** Returns the variant for a stored `key`. */
export const variantByKey = (key: ClientVariant['key']): ClientVariant => VARIANTS[key];

/** Selects the variant by User-Agent and ignores the `client` parameter. */
export function variantOf({ name, version }: ClientIdentity): ClientVariant {
  if (!/zulip/i.test(name)) return STANDARD;
  if (name === 'ZulipTerminal') return ZULIP_TERMINAL;
  if (name === 'ZulipMobile' && isOlder(version, FIRST_MOBILE_WITH_PRONOUNS)) return OLD_ZULIP_MOBILE;
  return ZULIP;
}

function isOlder(version: string | null, than: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);
  return version !== null && (major < than[0] || (major === than[0] && minor < than[1]));
}
