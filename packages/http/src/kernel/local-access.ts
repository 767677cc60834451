import { HttpRefusal } from './errors.js';
import type { Request } from './request.js';

/** A name or address that only programs on this machine reach. */
export function isLoopbackName(name: string): boolean {
  const host = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether a host name is the server's own: a loopback one, or that of the public address or of an organization below it. */
function isOwnName(name: string, publicHost: string | null): boolean {
  return isLoopbackName(name) || (publicHost !== null && (name === publicHost || name.endsWith(`.${publicHost}`)));
}

/** `own`: pages of this very origin; `local`: of this machine, such as a front end that is being developed. */
export type PagesAllowed = 'own' | 'local';

/**
 * Refuses what a web site can make a visitor's browser send here: by a name of its own that it lets point to this machine
 * (DNS rebinding), or from a page of its own. Programs send neither `Origin` nor `Sec-Fetch-Site`.
 * @throws HttpRefusal 403
 */
export function checkLocalAccess(request: Request, publicHost: string | null, pages: PagesAllowed): void {
  if (!isOwnName(request.host, publicHost)) throw notFromThere();
  const origin = request.header('origin');
  if (origin !== undefined && !isAllowedOrigin(origin, request, publicHost, pages)) throw notFromThere();
  if (origin !== undefined && pages === 'local') return;
  const site = request.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw notFromThere();
}

function isAllowedOrigin(origin: string, request: Request, publicHost: string | null, pages: PagesAllowed): boolean {
  if (!URL.canParse(origin)) return false; // `null`, of a page without an origin
  const { host, hostname } = new URL(origin);
  if (pages === 'local') return isOwnName(hostname, publicHost);
  return withPort(host, origin) === withPort(request.header('host')?.toLowerCase() ?? '', origin);
}

const withPort = (host: string, origin: string): string =>
  /:\d+$/.test(host) ? host : `${host}:${origin.startsWith('https:') ? 443 : 80}`;

const notFromThere = () => new HttpRefusal(403, 'BAD_REQUEST', 'This endpoint answers only to this machine itself.');
