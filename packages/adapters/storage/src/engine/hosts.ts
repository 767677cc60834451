const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;

/** Returns one URL per host of a PostgreSQL address, such as `postgres://user@host1,host2:5433/name`. */
export function hostsOf(url: string): readonly string[] {
  const [, start, hosts = '', rest] = ADDRESS.exec(url) ?? [];
  return start === undefined ? [url] : hosts.split(',').map((host) => start + host + rest);
}
