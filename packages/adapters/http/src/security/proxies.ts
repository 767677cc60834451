import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import proxyAddr from 'proxy-addr';

/**
 * Proxies with trusted `X-Forwarded-*` headers: their number, their networks (`10.0.0.0/8`, `::1`), or `app` for those
 * that the setting `trust proxy` of the host's Express application names.
 */
export type ProxyTrust = number | readonly string[] | 'app';

/** True if the address is a proxy; `hop` counts from the peer. */
type Trust = (address: string, hop: number) => boolean;

type Hosted = IncomingMessage & { readonly app?: { get(setting: string): unknown } };

const trustsNone: Trust = () => false;

/** Returns the trust of the host's Express application; none without one. */
const trustOfApp = ({ app }: Hosted): Trust => (app?.get('trust proxy fn') as Trust | undefined) ?? trustsNone;

/** True if the host's Express application trusts proxies. */
export const appTrustsProxies = ({ app }: Hosted): boolean => Boolean(app?.get('trust proxy'));

/** Named sets of networks. */
const NAMED_NETWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10']],
]);

const MAX_NETWORKS = 100;

/**
 * Parses comma-separated networks such as `10.0.0.0/8,2001:db8::/32`, single addresses, and the names `loopback` and
 * `private`. Null if an entry is invalid.
 */
export function parseNetworks(text: string): readonly string[] | null {
  const networks = text.split(',').flatMap((part) => NAMED_NETWORKS.get(part.trim()) ?? [part.trim()]);
  return networks.length <= MAX_NETWORKS && networks.every((network) => subnetOf(network) !== null) ? networks : null;
}

interface Subnet {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

function subnetOf(text: string): Subnet | null {
  const [, address, length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address ?? '');
  if (version === 0) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix > bits ? null : { address: address!, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Client address and proxy count, as determined from forwarded headers. */
export interface Forwarding {
  /** Client address as known to trusted proxies. */
  readonly ip: string;
  /** Number of trusted proxies on the way; 0 ignores forwarded headers. */
  readonly hops: number;
}

/** Determines the origin of requests behind proxies. */
export class TrustedProxies {
  private readonly networks: BlockList | null;
  private readonly count: number;
  private readonly isOfApp: boolean;

  /** @param publicHost host name of the public URL */
  constructor(
    trust: ProxyTrust = 0,
    private readonly publicHost = 'localhost',
  ) {
    this.count = typeof trust === 'number' ? trust : 0;
    this.isOfApp = trust === 'app';
    const networks = typeof trust === 'object' ? trust : [];
    this.networks = networks.length > 0 ? new BlockList() : null;
    for (const text of networks) {
      const subnet = subnetOf(text);
      if (!subnet) throw new Error(`${text} is not a network`);
      this.networks!.addSubnet(subnet.address, subnet.prefix, subnet.family);
    }
  }

  /** True if any proxy is trusted. */
  get exist(): boolean {
    return this.isOfApp || this.count > 0 || this.networks !== null;
  }

  /** True if the peer may be a proxy that carries requests of many clients. */
  mayBe(peer: string): boolean {
    return this.trusts(peer, 0);
  }

  forwardingOf(message: IncomingMessage): Forwarding {
    const trusts = this.isOfApp ? trustOfApp(message) : this.trusts;
    const { remoteAddress = '' } = message.socket;
    if (!trusts(remoteAddress, 0)) return { ip: addressOf(remoteAddress), hops: 0 };
    // The peer wrote the rightmost entry. An address in it is trusted only if it is a proxy too.
    const [, ...entries] = proxyAddr.all(message, trusts);
    const addresses = entries.map(addressOf);
    // Text that is not an address names nobody, and hides who wrote the entries further left.
    const unknown = addresses.findIndex((address) => isIP(address) === 0);
    const ip = (unknown === -1 ? addresses : addresses.slice(0, unknown)).at(-1) ?? addressOf(remoteAddress);
    return { ip, hops: this.count || Math.max(1, entries.length) };
  }

  /** True for the public host and its subdomains, which select organizations. Any client can forge other names. */
  isPublic(host: string): boolean {
    return `.${host}`.endsWith(`.${this.publicHost}`);
  }

  private readonly trusts: Trust = (address, hop) => {
    if (!this.networks) return hop < this.count;
    const ip = addressOf(address);
    const version = isIP(ip);
    return version !== 0 && this.networks.check(ip, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Returns the entry written by the outermost trusted proxy; entries further left come from the client. */
export const entryFor = (entries: readonly string[], hops: number): string | undefined =>
  entries[Math.max(0, entries.length - hops)];

/**
 * Strips the port, because some proxies write `192.0.2.7:51234` or `[2001:db8::7]:51234`, and the prefix of an IPv4 address
 * on a socket for both families.
 */
function addressOf(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(entry) ?? [];
  return (bracketed ?? plain ?? entry).replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
