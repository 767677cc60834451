import { BlockList, isIP } from 'node:net';

/** Proxies with trusted `X-Forwarded-*` headers: their number, or their networks (`10.0.0.0/8`, `::1`). */
export type ProxyTrust = number | readonly string[];

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

  constructor(trust: ProxyTrust = 0) {
    this.count = typeof trust === 'number' ? trust : 0;
    this.networks = typeof trust === 'number' ? null : new BlockList();
    for (const text of typeof trust === 'number' ? [] : trust) {
      const subnet = subnetOf(text);
      if (!subnet) throw new Error(`${text} is not a network`);
      this.networks!.addSubnet(subnet.address, subnet.prefix, subnet.family);
    }
  }

  /** True if any proxy is trusted. */
  get exist(): boolean {
    return this.count > 0 || (this.networks?.rules.length ?? 0) > 0;
  }

  /** True if the peer may be a proxy that carries requests of many clients. */
  mayBe(peer: string): boolean {
    return this.networks ? this.includes(peer) : this.count > 0;
  }

  /**
   * @param peer address that opened the connection
   * @param forwardedFor raw header value
   */
  forwardingOf(peer: string, forwardedFor: string | undefined): Forwarding {
    if (!this.mayBe(peer)) return { ip: peer, hops: 0 };
    const entries = forwardedFor?.split(',').map((entry) => entry.trim()) ?? [];
    if (!this.networks) return { ip: entryFor(entries, this.count) ?? peer, hops: this.count };
    // The peer wrote the rightmost entry. An address in it is trusted only if it is a proxy too.
    let hops = 1;
    while (hops < entries.length && this.includes(withoutPort(entries[entries.length - hops]!))) hops++;
    const ip = entryFor(entries, hops);
    return { ip: ip === undefined ? peer : withoutPort(ip), hops };
  }

  private includes(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.networks!.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Returns the entry written by the outermost trusted proxy; entries further left come from the client. */
export const entryFor = (entries: readonly string[], hops: number): string | undefined =>
  entries[Math.max(0, entries.length - hops)];

/** Strips the port, because some proxies write `192.0.2.7:51234` or `[2001:db8::7]:51234`. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}
