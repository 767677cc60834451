/** What proxies put in place of an address is any text. */
const MAX_ADDRESS_LENGTH = 45;

/** Where addresses come from that one owner can have by the thousand: a /48 of IPv6. IPv4 addresses are dear. */
export function networkOf(ip: string): string | undefined {
  const group = ipGroup(ip);
  return group.endsWith('::/64') ? `${group.split(':').slice(0, 3).join(':')}::/48` : undefined;
}

/** Addresses that are limited together: one IPv4 address, or a /64 of IPv6. */
export function ipGroup(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return mapped[1]!;
  if (!ip.includes(':')) return ip.slice(0, MAX_ADDRESS_LENGTH);
  const [head = '', tail] = ip.toLowerCase().split('%')[0]!.split('::');
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
