import { BlockList, isIP } from 'node:net';

/**
 * Proxies in front whose `X-Forwarded-*` headers are true: how many there are, whatever their addresses, or the networks they
 * are in (`10.0.0.0/8`, `::1`).
 */
export type ProxyTrust = number | readonly string[];

/** Names for networks that nobody wants to write out. */
const NAMED_NETWORKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10']],
]);

const MAX_NETWORKS = 100;

/**
 * Networks in a text, separated by commas: `10.0.0.0/8,2001:db8::/32`, single addresses, and the names `loopback` and
 * `private`. Null when something in it is none.
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

/** What proxies say of whoever they forward for. */
export interface Forwarding {
  /** Of the client, as far as those who are trusted know it. */
  readonly ip: string;
  /** How many of those on the way are trusted; 0: no forwarded header counts. */
  readonly hops: number;
}

/** Who is asked where a request comes from. */
export class TrustedProxies {
  private readonly networks: BlockList | null;
  private readonly count: number;

  constructor(trust: ProxyTrust = 0) {
    this.count = typeof trust === 'number' ? trust : 0;
    this.networks = typeof trust === 'number' ? null : new BlockList();
    for (const text of typeof trust === 'number' ? [] : trust) {
      const subnet = subnetOf(text);
      if (!subnet) throw new Error(`${text} is no network`);
      this.networks!.addSubnet(subnet.address, subnet.prefix, subnet.family);
    }
  }

  /** Whether there are any. */
  get exist(): boolean {
    return this.count > 0 || (this.networks?.rules.length ?? 0) > 0;
  }

  /** Whether it may be one: a connection from there may carry requests of many clients. */
  mayBe(peer: string): boolean {
    return this.networks ? this.includes(peer) : this.count > 0;
  }

  /** `peer`: whoever opened the connection; `forwardedFor`: the header as it came. */
  forwardingOf(peer: string, forwardedFor: string | undefined): Forwarding {
    if (!this.mayBe(peer)) return { ip: peer, hops: 0 };
    const entries = forwardedFor?.split(',').map((entry) => entry.trim()) ?? [];
    if (!this.networks) return { ip: entryFor(entries, this.count) ?? peer, hops: this.count };
    // The rightmost entry was written by the peer; whoever it names is believed only when it is a proxy as well.
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

/** What the outermost of so many proxies wrote; entries further left are the client's own words. */
export const entryFor = (entries: readonly string[], hops: number): string | undefined =>
  entries[Math.max(0, entries.length - hops)];

/** Some proxies write `192.0.2.7:51234` or `[2001:db8::7]:51234`. */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}
