import type { Request } from '../kernel/request.js';

/**
 * Whether a form was sent from a page of ours, or by a program. Browsers say where a form comes from: newer ones by
 * `Sec-Fetch-Site`, where the connection is secure, and all of them by `Origin`. `url`: where the organization is reached.
 */
export function isFromOwnPage(request: Request, url: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = request.header('origin');
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false; // `null`, of a page without an origin
  return [new URL(url).host, request.authority].includes(new URL(origin).host);
}
