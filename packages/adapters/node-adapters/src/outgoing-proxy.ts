import { type Agent, type AgentOptions, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { createRequire } from 'node:module';
import { type BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectByTls } from 'node:tls';
import { isParsableUrl } from '@parley/domain/kernel';
import { familyOf, networks } from './networks.js';

const require = createRequire(import.meta.url);

/** HTTP proxies for outgoing calls. */
export interface ProxySettings {
  /** Proxy for `http` addresses; null for none. */
  readonly http: string | null;
  /** Proxy for `https` addresses; null for none. */
  readonly https: string | null;
  /** Entries of `NO_PROXY`. */
  readonly exceptions: readonly string[];
}

export const NO_PROXY: ProxySettings = { http: null, https: null, exceptions: [] };

/** Parses the URL of a proxy; the scheme may be missing. @throws Error that describes what is expected */
export function parseProxyUrl(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`;
  if (isParsableUrl(url)) {
    const { protocol, hostname, pathname, search, hash, href } = new URL(url);
    if (/^https?:$/.test(protocol) && hostname !== '' && pathname === '/' && search + hash === '') return href;
  }
  throw new Error('the address of an HTTP proxy, such as http://proxy.example.com:3128');
}

/**
 * Reads the usual environment variables. `all`: proxy instead of theirs, or `off` for none; null without a setting.
 * @throws Error that names the invalid variable
 */
export function proxySettingsOf(all: string | null, environment: NodeJS.ProcessEnv): ProxySettings {
  if (all === 'off') return NO_PROXY;
  const variableOf = (name: string) => environment[name.toLowerCase()] || environment[name] || null;
  const proxyOf = (name: string): string | null => {
    const value = all ?? variableOf(name);
    try {
      return value && parseProxyUrl(value);
    } catch (error) {
      throw new Error(`${name} must be ${(error as Error).message}, or PARLEY_OUTGOING_PROXY must be off`);
    }
  };
  const exceptions = (variableOf('NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return { http: proxyOf('HTTP_PROXY'), https: proxyOf('HTTPS_PROXY'), exceptions };
}

/** Describes the proxies without passwords; null if there are none. */
export function describeProxies({ http, https, exceptions }: ProxySettings): string | null {
  if (http === null && https === null) return null;
  const schemes = Object.entries({ https, http }).filter(([, url]) => url !== null);
  const isSame = http === https;
  const proxies = (isSame ? schemes.slice(0, 1) : schemes).map(([scheme, url]) => {
    const { host } = new URL(url!);
    return isSame ? host : `${host} for ${scheme}`;
  });
  return [...proxies, ...(exceptions.length > 0 ? [`except ${exceptions.join(' ')}`] : [])].join(', ');
}

function isNetwork(entry: string): boolean {
  const [address, prefix = '0'] = entry.split('/', 2) as [string, string?];
  const version = isIP(address);
  return version !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32);
}

const LOOPBACK = networks(['127.0.0.0/8', '::1']);

/**
 * Sends outgoing calls through the operator's proxy. Hosts in `NO_PROXY` and this machine are reached directly. The
 * libraries are loaded only if a proxy is used.
 */
export class OutgoingProxy {
  private readonly networks: BlockList;
  /** Lower-case names without dots around them, optionally with a port. */
  private readonly names: readonly string[];
  private readonly dispatchers = new Map<string, import('undici').ProxyAgent>();

  constructor(private readonly settings: ProxySettings = NO_PROXY) {
    this.networks = networks(settings.exceptions.filter(isNetwork));
    this.names = settings.exceptions
      .filter((entry) => !isNetwork(entry))
      .map((entry) => entry.toLowerCase().replace(/^\*?\.|\.$/g, ''));
  }

  /** Returns the proxy for a URL; null if it is reached directly. */
  urlFor(target: string | URL): string | null {
    const { protocol, hostname, port } = new URL(target);
    const proxy = protocol === 'https:' ? this.settings.https : this.settings.http;
    if (proxy === null) return null;
    const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    const family = familyOf(host);
    if (isIP(host) !== 0 && (LOOPBACK.check(host, family) || this.networks.check(host, family))) return null;
    if (host === 'localhost' || host.endsWith('.localhost')) return null;
    const withPort = `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
    const isException = this.names.some((name) =>
      [host, withPort].some((it) => name === '*' || it === name || it.endsWith(`.${name}`)),
    );
    return isException ? null : proxy;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : input;
    const proxy = this.urlFor(url);
    if (proxy === null) return fetch(input, init);
    const undici = require('undici') as typeof import('undici');
    // Proxies commonly refuse tunnels to other ports than that of HTTPS.
    const dispatcher = this.dispatchers.get(proxy) ?? new undici.ProxyAgent({ uri: proxy, proxyTunnel: false });
    this.dispatchers.set(proxy, dispatcher);
    const viaProxy = undici.fetch as unknown as (url: string | URL, init: object) => Promise<Response>;
    return viaProxy(url, { ...init, dispatcher });
  };

  /** Returns the agent for requests of `node:http` to a URL; null if it is reached directly. */
  agentFor(target: string | URL, options: AgentOptions = {}): Agent | null {
    const proxy = this.urlFor(target);
    if (proxy === null) return null;
    if (new URL(target).protocol === 'https:') {
      const { HttpsProxyAgent } = require('https-proxy-agent') as typeof import('https-proxy-agent');
      return new HttpsProxyAgent(proxy, options);
    }
    const { HttpProxyAgent } = require('http-proxy-agent') as typeof import('http-proxy-agent');
    return new HttpProxyAgent(proxy, options);
  }

  /** Opens a connection for HTTP/2 through the proxy; null if the URL is reached directly. */
  async tunnelTo(target: string, timeoutMs: number): Promise<Duplex | null> {
    const proxy = this.urlFor(target);
    if (proxy === null) return null;
    const { hostname, port, protocol: scheme } = new URL(target);
    const { protocol, username, password } = new URL(proxy);
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const path = `${hostname}:${port || (scheme === 'https:' ? 443 : 80)}`;
    const headers = {
      Host: path,
      ...(username && { 'Proxy-Authorization': `Basic ${credentials.toString('base64')}` }),
    };
    const socket = await new Promise<Duplex>((resolve, reject) => {
      const request = (protocol === 'https:' ? requestByHttps : requestByHttp)(proxy, {
        ...{ method: 'CONNECT', path, headers, agent: false },
        signal: AbortSignal.timeout(timeoutMs),
      });
      request.on('error', reject).on('connect', ({ statusCode }, connected, first) => {
        // A target that speaks first may send its bytes in the packet of the proxy's response.
        connected.unshift(first);
        if (statusCode === 200) return resolve(connected);
        connected.destroy();
        reject(new Error(`the proxy answers ${statusCode}`));
      });
      request.end();
    });
    if (scheme === 'http:') return socket;
    return connectByTls({ socket, ...(isIP(hostname) === 0 && { servername: hostname }), ALPNProtocols: ['h2'] });
  }
}
