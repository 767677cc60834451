import { pieceOf, takeCodePoints } from '@parley/domain/kernel';

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
