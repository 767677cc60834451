import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import { pieceOf, takeCodePoints } from '@parley/domain/kernel';
import { entryFor, type Forwarding, type TrustedProxies } from './trusted-proxies.js';

/** Who the software says it is. */
export interface ClientIdentity {
  /** At most 30 characters, as messages show it: `ZulipMobile`. */
  readonly name: string;
  readonly version: string | null;
}

const MAX_NAME_LENGTH = 30;
/** Source: Zulip's user_agent.py. The first two parts overlap, so the text is cut before it is matched. */
const USER_AGENT = /^([^/ ]*[^0-9/(]*)(?:\/([^/ ]*))?(?:[ /].*)?$/s;
const MAX_USER_AGENT_LENGTH = 300;
const MAX_REMEMBERED = 1000;

const UNSPECIFIED: ClientIdentity = { name: 'Unspecified', version: null };
const remembered = new Map<string, ClientIdentity>();

/** Of a `User-Agent` header; its leading part counts: `ZulipTerminal/0.7.0 ZulipPython/0.9.0` is ZulipTerminal. */
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

/** The name messages get: the `client` parameter, else the browser's `website`, else the User-Agent's. */
export function clientNameOf(client: ClientIdentity, parameter: string | undefined, isBrowserSession: boolean): string {
  if (parameter !== undefined) return truncateClientName(parameter);
  return isBrowserSession && !client.name.startsWith('Zulip') ? 'website' : client.name;
}

/** Of a part of a path or a name in a header; as it is, where what is escaped is no text. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface RequestTarget {
  /** Undecoded, without query. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Of a target that names a host, as clients send it to proxies: `http://chat.example.com/api/v1/messages`. */
  readonly authority: string | null;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** What is asked for, from the mount path on. */
export function targetOf({ url = '/' }: IncomingMessage): RequestTarget {
  let authority: string | null = null;
  let start = 0;
  if (url.charCodeAt(0) !== 47) {
    const [prefix, named] = ABSOLUTE.exec(url) ?? [];
    if (prefix !== undefined) {
      authority = named!;
      start = prefix.length;
    }
  }
  const queryAt = url.indexOf('?', start);
  const path = pieceOf(url, start, queryAt === -1 ? url.length : queryAt);
  return { path: path === '' ? '/' : path, query: queryAt === -1 ? '' : pieceOf(url, queryAt + 1), authority };
}

/**
 * Whether it is clear which host a request is for. Of two, others on its way may have looked at the one and we at the
 * other.
 */
export function hasOneHost({ rawHeaders, headers }: IncomingMessage, { authority }: RequestTarget): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return false;
  return authority === null || withoutDefaultPort(authority) === withoutDefaultPort(headers.host ?? '');
}

const withoutDefaultPort = (authority: string): string => authority.toLowerCase().replace(/:(?:80|443)?$/, '');

/** Form fields by name, as text. A Map, so that a field called `__proto__` is just a name. */
export type Fields = ReadonlyMap<string, string>;

const NO_FIELDS: Fields = new Map();

/**
 * What a request says about itself, query and body together; of a name in both, the body's value counts. All of it is
 * well-formed text from here on, whatever it came in.
 */
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

  /** Where the value that counts came from. */
  originOf(name: string): 'query' | 'body' | undefined {
    if (this.body.has(name)) return 'body';
    return this.query.has(name) ? 'query' : undefined;
  }

  /** Each name once, in no order worth relying on. */
  names(): Iterable<string> {
    return Array.from(this.merged.keys(), (name) => name.toWellFormed());
  }

  get size(): number {
    return this.merged.size;
  }
}

/** A file part of a multipart body. */
export interface UploadedFile {
  /** Name of the form field; some clients put the path of the file there. */
  readonly field: string;
  readonly filename: string;
  /** As the client claims. */
  readonly mimeType: string;
  /** Empty where the route has files stored. */
  readonly content: Buffer;
  /** Where the bytes are, of the first file of a route that has files stored; null: not kept, as it is too long, or another one. */
  readonly blob: ReceivedBlob | null;
  /** Longer than the limit; `content` holds the beginning. The operation refuses in its own words. */
  readonly isTruncated: boolean;
}

/** Values of the path's named segments, decoded; integers as canonical digits. */
export type PathParameters = Readonly<Record<string, string>>;

/** A request as operations see it, whatever server or framework received it. */
export interface Request {
  /** Of `X-Request-Id`, or made up; also in the answer and in the log. */
  readonly id: string;
  /** Upper case, after a `method` form field had its say. `HEAD` stays `HEAD`. */
  readonly method: string;
  /** Undecoded, without query, from the mount path on: `/api/v1/users/me`. */
  readonly path: string;
  /** Undecoded, without the question mark; empty when there is none. */
  readonly query: string;
  /** Lower case, without port. */
  readonly host: string;
  /** What chooses the organization: the host, or where organizations are distinguished by path `/` and the first part of it. */
  readonly realmAddress: string;
  /** Lower case, with the port that was named. */
  readonly authority: string;
  /** It came over TLS, as far as we see it or a proxy that is trusted says so. */
  readonly isSecure: boolean;
  /** Of the client; behind proxies that are trusted, what they say. */
  readonly ip: string;
  readonly client: ClientIdentity;
  readonly variant: ClientVariant;
  readonly pathParameters: PathParameters;
  readonly parameters: Parameters;
  readonly files: readonly UploadedFile[];
  /** Where the route tells it: what pages have to send back to change something by a browser's cookies. */
  readonly csrfToken: string | null;
  /** Name in lower case. */
  header(name: string): string | undefined;
  /** Called once if the client goes away before it is answered; at once if it is gone already. */
  onClose(listener: () => void): void;
  /** Called once when the answer has left as a whole, or nobody is there to take it. */
  onEnd(listener: () => void): void;
  /** The client went away before it was answered. */
  readonly isGone: boolean;
  /** Aborted when the client goes away before it is answered. */
  readonly signal: AbortSignal;
  /** What Node received, for the host application's own authentication, and for operations that stream the body. */
  readonly raw: IncomingMessage;
}

export const CLIENT_VARIANTS = ['standard', 'zulip', 'zulip-terminal', 'zulip-mobile-before-pronouns'] as const;

/**
 * The older forms a client in use still needs, known by its User-Agent. The one place that decides it; everything else
 * reads these members, or caches by `key`.
 */
export interface ClientVariant {
  /** Clients of one key get byte for byte the same. */
  readonly key: (typeof CLIENT_VARIANTS)[number];
  /** Name of the reaction type of emoji the server adds itself. Both are accepted from everybody. */
  readonly extraEmojiType: 'service_extra_emoji' | 'zulip_extra_emoji';
  /** Settings also at the top level of register, as before feature level 89. */
  readonly hasLegacyRegisterFields: boolean;
  /** zulip-term 0.7 knows by the text alone that its queue is gone. */
  readonly hasOldQueueErrorText: boolean;
  /** Custom profile fields of type pronouns are called short text. */
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

/** Source: Zulip, the last ZulipMobile without pronouns fields is the one before 27.192. */
const FIRST_MOBILE_WITH_PRONOUNS = [27, 192] as const;

const VARIANTS: Readonly<Record<ClientVariant['key'], ClientVariant>> = {
  standard: STANDARD,
  zulip: ZULIP,
  'zulip-terminal': ZULIP_TERMINAL,
  'zulip-mobile-before-pronouns': OLD_ZULIP_MOBILE,
};

/** Of a client that was known before, by the `key` that was kept of it. */
export const variantByKey = (key: ClientVariant['key']): ClientVariant => VARIANTS[key];

/** By the User-Agent, not by a `client` parameter. */
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

const NO_PATH_PARAMETERS: PathParameters = {};
const NO_FILES: readonly UploadedFile[] = [];
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** Distinguishes the processes that write to one log. */
const processTag = Math.random().toString(36).slice(2, 8).padEnd(6, '0');
let received = 0;

/** A request from Node's HTTP server. The dispatcher fills in what it finds out; operations see a `Request`. */
export class ReceivedRequest implements Request {
  readonly id: string;
  method: string;
  pathParameters = NO_PATH_PARAMETERS;
  parameters = Parameters.none;
  files = NO_FILES;
  csrfToken: string | null = null;
  private abortController: AbortController | undefined;
  private identity: ClientIdentity | undefined;
  private forwarding: Forwarding | undefined;

  constructor(
    readonly raw: IncomingMessage,
    private readonly response: ServerResponse,
    readonly path: string,
    readonly query: string,
    private readonly proxies: TrustedProxies,
    /** `/` and the name of an organization; null: the host says which. */
    private readonly realmPath: string | null = null,
  ) {
    this.method = raw.method ?? 'GET';
    const id = raw.headers['x-request-id'];
    this.id = typeof id === 'string' && REQUEST_ID.test(id) ? id : `${processTag}-${(++received).toString(36)}`;
  }

  header(name: string): string | undefined {
    const value = this.raw.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  get host(): string {
    return this.authority.replace(/:\d*$/, '');
  }

  get authority(): string {
    return (this.forwardedHeader('x-forwarded-host') ?? this.header('host') ?? '').toLowerCase();
  }

  get isSecure(): boolean {
    return this.forwardedHeader('x-forwarded-proto') === 'https' || 'encrypted' in this.raw.socket;
  }

  get realmAddress(): string {
    return this.realmPath ?? this.host;
  }

  get ip(): string {
    return this.forwarded.ip;
  }

  get client(): ClientIdentity {
    this.identity ??= parseUserAgent(this.raw.headers['user-agent']);
    return this.identity;
  }

  get variant(): ClientVariant {
    return variantOf(this.client);
  }

  /** The client left before its answer was complete. */
  get isGone(): boolean {
    return this.response.destroyed && !this.response.writableFinished;
  }

  onClose(listener: () => void): void {
    if (this.isGone) listener();
    else {
      this.response.once('close', () => {
        if (!this.response.writableFinished) listener();
      });
    }
  }

  onEnd(listener: () => void): void {
    if (this.response.closed) listener();
    else this.response.once('close', listener);
  }

  get signal(): AbortSignal {
    if (!this.abortController) {
      const controller = new AbortController();
      this.abortController = controller;
      this.onClose(() => controller.abort());
    }
    return this.abortController.signal;
  }

  private get forwarded(): Forwarding {
    const { remoteAddress = '' } = this.raw.socket;
    this.forwarding ??= this.proxies.forwardingOf(remoteAddress, this.header('x-forwarded-for'));
    return this.forwarding;
  }

  /** What the outermost of the trusted proxies says. */
  private forwardedHeader(name: string): string | undefined {
    const { hops } = this.forwarded;
    if (hops === 0) return undefined;
    const entries = this.header(name)?.split(',');
    return entries && entryFor(entries, hops)?.trim();
  }
}
