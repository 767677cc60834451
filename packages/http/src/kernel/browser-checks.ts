import type { Identity } from './authenticate.js';
import type { Body } from './body-rules.js';
import { CSRF_COOKIE, readCookie, SessionCookies } from './cookies.js';
import {
  CSRF_FIELD,
  checkCsrf,
  checkOwnPage,
  checkSameOrigin,
  isSafeMethod,
  newCsrfToken,
  type TrustedOrigins,
} from './csrf.js';
import { checkLocalAccess } from './local-access.js';
import type { ReceivedRequest } from './received-request.js';
import type { Reply } from './reply.js';
import type { Route } from './route.js';

export interface BrowserChecksOptions {
  /** Where browsers reach us. */
  readonly publicUrl: URL;
  /** Beside our own, origins whose pages may act for those whom the host application has logged in. */
  readonly trustedOrigins: TrustedOrigins;
  /** Passwords are as good as published, so that no web site may try them through the browser of whoever runs this. */
  readonly hasKnownPasswords: boolean;
}

/** Browsers send what somebody else's page tells them to, with the cookies of whoever looks at it: what may come of that. */
export class BrowserChecks {
  private readonly cookies: SessionCookies;

  constructor(private readonly options: BrowserChecksOptions) {
    this.cookies = new SessionCookies(options.publicUrl.href);
  }

  /** Refuses what somebody else's page may have sent, where that could do harm. @throws HttpRefusal 403 */
  checkPage(request: ReceivedRequest, { isDevelopment, auth, method }: Route): void {
    const { hasKnownPasswords, publicUrl } = this.options;
    const triesPasswords = hasKnownPasswords && auth === 'anyone' && method === 'POST';
    if (isDevelopment) checkLocalAccess(request, publicUrl.hostname, 'own');
    else if (triesPasswords) checkLocalAccess(request, publicUrl.hostname, 'local');
  }

  /**
   * Lets only our own pages change something by what browsers send of their own accord. `isPage`: the path is for browsers
   * alone.
   * @throws HttpRefusal 403
   */
  checkSender(
    request: ReceivedRequest,
    { identity, isPage, body }: { identity: Identity | undefined; isPage: boolean; body: Body | undefined },
  ): void {
    const isBrowser = isPage || identity?.session !== undefined;
    if (isSafeMethod(request.method) || !(isBrowser || identity?.isHostLogin)) return;
    const { publicUrl, trustedOrigins } = this.options;
    const isSecure = this.cookies.isSecure(request);
    if (isBrowser) {
      const field = body?.fields.get(CSRF_FIELD);
      checkCsrf(request, { isSecure, publicUrl, expected: identity?.session?.csrfToken, field });
    } else checkSameOrigin(request, { isSecure, publicUrl, trusted: trustedOrigins });
  }

  /** @throws HttpRefusal 403, to pages of another origin */
  checkOwnPage(request: ReceivedRequest): void {
    checkOwnPage(request, { isSecure: this.cookies.isSecure(request), publicUrl: this.options.publicUrl });
  }

  /** Sees to it that the browser's pages have a token to send, before they have anything to send. */
  withToken(reply: Reply, request: ReceivedRequest, identity: Identity | undefined): Reply {
    if (!isSafeMethod(request.method) || request.method === 'OPTIONS' || reply.cacheControl !== undefined) return reply;
    const token = request.csrfToken ?? csrfTokenOf(request, identity);
    if (token === readCookie(request, CSRF_COOKIE)) return reply;
    return { ...reply, headers: [...(reply.headers ?? []), ...this.cookies.csrf(request, token)] };
  }
}

/** What pages have to send: the session's, or anything that the browser's cookie says as well. */
export const csrfTokenOf = (request: ReceivedRequest, identity: Identity | undefined): string =>
  identity?.session?.csrfToken ?? readCookie(request, CSRF_COOKIE) ?? newCsrfToken();

/** It is no parameter of any operation. */
export function withoutCsrfToken(fields: Body['fields']): Body['fields'] {
  if (!fields.has(CSRF_FIELD)) return fields;
  const others = new Map(fields);
  others.delete(CSRF_FIELD);
  return others;
}
