import { isLoopbackName } from '@parley/http';
import { format } from '../kernel/values.js';
import { setting } from './setting.js';
import { ON_OFF, PATH } from './setting-values.js';

/** NATS servers of one cluster. */
export type BusServers = readonly string[];

/** Settings for messages between servers. */
export const BUS_SETTINGS = {
  bus: setting(
    'PARLEY_BUS',
    'bus',
    'URL',
    'messages between servers of one database over NATS: tls://HOST:PORT, or nats://HOST:PORT on the same machine; several of one cluster with commas; default: none, servers read the database four times a second',
    format(parseBus),
    null as BusServers | null,
  ),
  busCredentials: setting(
    'PARLEY_BUS_CREDENTIALS',
    'bus-credentials',
    'FILE',
    "file with a NATS user's credentials (.creds), USER:PASSWORD or a token; default: none",
    PATH,
    null as string | null,
  ),
  busCa: setting(
    'PARLEY_BUS_CA',
    'bus-ca',
    'FILE',
    'CA certificates (PEM) of the NATS servers; default: those of the system',
    PATH,
    null as string | null,
  ),
  busContents: setting(
    'PARLEY_BUS_CONTENTS',
    'bus-contents',
    'on|off',
    'sends events to other servers; off: sends only their numbers, and receivers read the database',
    ON_OFF,
    true,
  ),
};

/** Parses NATS URLs. Messages contain events, so TLS is required except on loopback. */
export function parseBus(text: string): BusServers {
  const servers = text.split(',').map((each) => each.trim());
  const isEncrypted = servers.every((each) => each.startsWith('tls://'));
  if (!servers.every((each) => isServer(each, isEncrypted))) {
    throw new Error('tls://HOST:PORT, or nats://HOST:PORT with a loopback address; credentials belong in a file');
  }
  return servers;
}

function isServer(text: string, isEncrypted: boolean): boolean {
  const [, scheme, host] = /^(tls|nats):\/\/([\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i.exec(text) ?? [];
  if (scheme === undefined) return false;
  return isEncrypted || (scheme === 'nats' && isLoopbackName(host!));
}
