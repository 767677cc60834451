import { BlockList, isIP } from 'node:net';

export function networks(all: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of all) {
    const [address, prefix] = network.split('/') as [string, string?];
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
