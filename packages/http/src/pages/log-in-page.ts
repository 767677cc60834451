import { DomainError } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import { isEmailAddress, LogIn } from '@parley/domain/users';
import { CSRF_COOKIE, type Identity, readCookie } from '../kernel/authenticate.js';
import { CSRF_FIELD, newCsrfToken } from '../kernel/csrf.js';
import { MAX_TEXT_LENGTH } from '../kernel/param-types.js';
import { TextParam } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';
import type { Route } from '../kernel/route.js';
import { type Html, html } from './html.js';
import {
  alert,
  errorPage,
  type Failure,
  failureOf,
  type PageParts,
  pageReply,
  pageRoute,
  redirectTo,
  type Site,
} from './layout.js';

/** `email` is that of a user who followed an invitation but already has an account. */
class LogInPageDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) next = '';
}

class LogInFormDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) next = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) csrfmiddlewaretoken = '';
}

/** Form for logging in with a browser. Programs use `/accounts/login/`, which responds in JSON. */
export const logInPages = (parts: PageParts): readonly Route[] => {
  const { sessionCookies } = parts;

  /** Shows the form. The cookie of a browser without a session gets a token, which the form must repeat. */
  function formPage(
    { site, realm, request }: { readonly site: Site; readonly realm: Realm; readonly request: Request },
    { email, next }: LogInPageDto,
    failure: Failure | null = null,
  ): Reply {
    const cookie = readCookie(request, CSRF_COOKIE);
    const token = cookie ?? newCsrfToken();
    return pageReply({
      status: failure?.status ?? 200,
      headers: [...(failure?.headers ?? []), ...(cookie === undefined ? sessionCookies.csrf(request, token) : [])],
      title: site.t('Log in to {name}', { name: site.name }),
      site,
      content: html`${alert(site, failure)}${logInForm(site, realm, { email, next, token, failure })}`,
    });
  }

  return [
    pageRoute(parts, 'GET', '/login/', {
      dto: LogInPageDto,
      knowsCaller: true,
      handle: async ({ site, realm, request, dto, identity }) =>
        isUserOf(realm, identity) ? redirectTo(targetOf(site, dto.next)) : formPage({ site, realm, request }, dto),
    }),
    pageRoute(parts, 'POST', '/login/', {
      dto: LogInFormDto,
      isExpensive: true,
      useCase: LogIn,
      handle: async ({ site, realm, request, caller, dto, useCase }) => {
        const { username, password, next } = dto;
        const again = (failure: Failure) => formPage({ site, realm, request }, { email: username, next }, failure);
        const cookie = readCookie(request, CSRF_COOKIE);
        if (cookie === undefined || cookie !== dto.csrfmiddlewaretoken) return again(EXPIRED_FORM);
        const logIn = { method: 'password', account: username };
        try {
          const userAgent = request.header('user-agent') ?? '';
          const input = { username: username.trim(), password, cancellation: request.signal, userAgent };
          const session = await useCase.execute(caller, input);
          const cookies = sessionCookies.begin(request, session);
          return { ...redirectTo(targetOf(site, next), cookies), logIn: { ...logIn, failure: null } };
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          const failure = error.is('AUTHENTICATION_FAILED') ? WRONG_PASSWORD : failureOf(error);
          return { ...again(failure), logIn: { ...logIn, failure: error.code } };
        }
      },
    }),
    // Forms of Zulip that this server does not offer.
    ...['/accounts/go/', '/accounts/find/', '/new/', '/policies/', '/policies/*page'].map((path) =>
      pageRoute(parts, 'GET', path, {
        dto: LogInPageDto,
        handle: async ({ site }) => errorPage(site, NOT_CONFIGURED),
      }),
    ),
  ];
};

const EXPIRED_FORM: Failure = { status: 403, message: 'The form has expired. Please try again.' };
const WRONG_PASSWORD: Failure = { status: 401, message: 'Your email address or password is incorrect.' };
const NOT_CONFIGURED: Failure = { status: 404, message: 'This feature is not configured on this server.' };

export const isUserOf = ({ id }: Pick<Realm, 'id'>, identity: Identity | undefined): boolean =>
  identity !== undefined && identity.realmId === id;

/**
 * Returns the path to which a browser goes after logging in: `next` if it is a path of this site, else the start page.
 * Browsers treat `//host` and `/\host` as other sites and ignore tabs and line breaks.
 */
export function targetOf({ base, url }: Pick<Site, 'base' | 'url'>, next: string): string {
  const start = `${base}/`;
  if (!next.startsWith('/') || !URL.canParse(next, url)) return start;
  const { origin, pathname, search, hash } = new URL(next, url);
  return origin === new URL(url).origin && !pathname.startsWith('//') ? pathname + search + hash : start;
}

interface FormState {
  readonly email: string;
  readonly next: string;
  readonly token: string;
  readonly failure: Failure | null;
}

function logInForm({ base, t }: Site, { settings }: Realm, { email, next, token, failure }: FormState): Html {
  const hasPasswords = settings.emailAuthentication;
  const isKnown = failure === null && isEmailAddress(email);
  const signUp = html`<a href="${base}/register/">${t('Sign up')}</a>`;
  const invalid = failure && html` aria-describedby="problem" aria-invalid="true"`;
  return html`${
    isKnown &&
    html`<p>${t('There is an account for {email} already.', { email: html`<strong>${email}</strong>` })}</p>
`
  }${
    hasPasswords
      ? html`<form method="post" action="${base}/login/">
<input type="hidden" name="${CSRF_FIELD}" value="${token}">
<input type="hidden" name="next" value="${next}">
<p><label for="username">${t('Email address')}</label>
<input id="username" name="username" type="email" autocomplete="username" required value="${email}"${invalid}></p>
<p><label for="password">${t('Password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${invalid}></p>
<p><button class="wide">${t('Log in')}</button></p>
<p><a href="${base}/accounts/password/reset/">${t('Forgot your password?')}</a></p>
</form>`
      : html`<p>${t('Nobody can log in to this organization in a browser.')}</p>`
  }
<p>${
    settings.inviteRequired
      ? t('An invitation from a member is required to join.')
      : t('You have no account yet? {link}', { link: signUp })
  }</p>`;
}

/** Shows the server URL, which every client asks for. */
export const connecting = ({ url, t }: Site): Html => html`<h2>${t('How to connect')}</h2>
<dl>
<dt>${t('On a phone or tablet')}</dt>
<dd>${t('Install {zulip} for Android or iOS, choose to add an account, and enter the address {url}. Then log in.', {
  zulip: html`<strong>Zulip</strong>`,
  url: html`<code>${url}</code>`,
})}</dd>
<dt>${t('In a terminal')}</dt>
<dd>${t('Install {terminal}, start {command}, and enter the same address.', {
  terminal: html`<strong>Zulip Terminal</strong>`,
  command: html`<code>zulip-term</code>`,
})}</dd>
<dt>${t('Programs and bots')}</dt>
<dd>${t('Use a library for the Zulip API or plain HTTP. This fetches your API key:')}
<pre tabindex="0"><code>curl ${url}/api/v1/fetch_api_key -d username=YOU@EXAMPLE.COM -d password=&hellip;</code></pre></dd>
</dl>`;
