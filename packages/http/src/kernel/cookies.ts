import type { Request } from './request.js';

export const SESSION_COOKIE = 'sessionid';
export const CSRF_COOKIE = 'csrftoken';

const YEAR_SECONDS = 365 * 86_400;
const TOKEN = /^[\w-]{1,128}$/;

/** Of a request; undefined where it is absent, or nothing that we ever gave out. */
export function readCookie(request: Request, name: string): string | undefined {
  const header = request.header('cookie');
  if (header === undefined) return undefined;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return TOKEN.test(value) ? value : undefined;
  }
  return undefined;
}

/** The cookies of browser sessions (protocol §7.6), as headers of answers. */
export class SessionCookies {
  private readonly path: string;
  private readonly isAlwaysSecure: boolean;

  /** `publicUrl`: where browsers reach us, with the path that we are mounted under. */
  constructor(publicUrl: string) {
    const { pathname, protocol } = new URL(publicUrl);
    this.path = pathname.replace(/\/+$/, '');
    this.isAlwaysSecure = protocol === 'https:';
  }

  /** Whether the browser speaks https to us, be it through proxies that do not say so. */
  isSecure(request: Request): boolean {
    return this.isAlwaysSecure || request.isSecure;
  }

  /** Both cookies of a session that begins. */
  begin(request: Request, { token, csrfToken }: { readonly token: string; readonly csrfToken: string }) {
    return [...this.cookie(request, SESSION_COOKIE, token, YEAR_SECONDS), ...this.csrf(request, csrfToken)];
  }

  /** Has the browser forget both. */
  end(request: Request): readonly string[] {
    return [...this.cookie(request, SESSION_COOKIE, '', 0), ...this.cookie(request, CSRF_COOKIE, '', 0)];
  }

  csrf(request: Request, csrfToken: string): readonly string[] {
    return this.cookie(request, CSRF_COOKIE, csrfToken, YEAR_SECONDS);
  }

  /** Where paths tell organizations apart, somebody may be logged in to several of them at the same time. */
  private pathOf({ realmAddress }: Request): string {
    return (realmAddress.startsWith('/') ? this.path + realmAddress : this.path) || '/';
  }

  /** Pages read the token that they have to send, and nothing else. */
  private cookie(request: Request, name: string, value: string, maxAge: number): readonly string[] {
    const attributes = [`${name}=${value}`, `Path=${this.pathOf(request)}`, `Max-Age=${maxAge}`, 'SameSite=Lax'];
    if (name === SESSION_COOKIE) attributes.push('HttpOnly');
    if (this.isSecure(request)) attributes.push('Secure');
    return ['Set-Cookie', attributes.join('; ')];
  }
}
