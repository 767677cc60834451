import { DomainError } from '@parley/domain/kernel';
import {
  admitsStrangers,
  ListLogInMethods,
  LogInByForm,
  type LogInMethod,
  type LogInOffer,
} from '@parley/domain/log-in';
import type { Realm } from '@parley/domain/realms';
import { isHostAddress } from '@parley/domain/users';
import type { Route } from '../declarations/route.js';
import type { Demo } from '../declarations/server-info.js';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { usesDirectory } from '../realms/server-settings.js';
import { CSRF_COOKIE, type Identity, readCookie } from '../security/authenticate.js';
import { CSRF_FIELD, newCsrfToken } from '../security/csrf.js';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { LogInPurposeDto, methodButton, purposeOf, queryOf, replyToLogIn } from './external-log-in.js';
import { type Html, html } from './html.js';
import {
  errorPage,
  type Failure,
  failureOf,
  fieldState,
  type PageParts,
  pageReply,
  pageRoute,
  redirectTo,
  type Site,
  targetOf,
} from './layout.js';
import { pageScriptOf } from './page-script.js';
import { browserOf, markBrowser } from './second-factor-log-in.js';

/** `email` belongs to an invited user who already has an account. */
class LogInPageDto extends LogInPurposeDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) email = '';
}

class LogInQueryDto extends LogInPageDto {
  /** `login`: shows the form even in a browser with a session, as in OpenID Connect. */
  @TextParam({ max: MAX_TOKEN_LENGTH }) prompt = '';
}

class LogInFormDto extends LogInPurposeDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
  @TextParam({ max: MAX_TEXT_LENGTH }) csrfmiddlewaretoken = '';
}

/** Log-in form for browsers. Programs use `/accounts/login/`, which responds in JSON. */
export const logInPages = (parts: PageParts): readonly Route[] => {
  return [
    pageRoute(parts, 'GET', '/login/', {
      dto: LogInQueryDto,
      knowsCaller: true,
      useCase: ListLogInMethods,
      handle: async ({ site, realm, request, caller, dto, identity, refusal, useCase }) => {
        const isForApp = purposeOf(dto).kind !== 'session';
        if (!isForApp && dto.prompt !== 'login' && isUserOf(realm, identity))
          return redirectTo(targetOf(site, dto.next));
        const page = { site, realm, request, offer: await useCase.execute(caller) };
        // Sessions survive deactivation.
        const isDeactivated = !isForApp && refusal instanceof DomainError && refusal.is('USER_DEACTIVATED');
        return formPage(parts, page, dto, null, isDeactivated ? failureOf(refusal) : null);
      },
    }),
    pageRoute(parts, 'POST', '/login/', {
      dto: LogInFormDto,
      isExpensive: true,
      useCase: LogInByForm,
      handle: async ({ site, realm, request, caller, dto, useCase, resolve }) => {
        const { username, password } = dto;
        const offer = await resolve(ListLogInMethods).execute(caller);
        const again = (failure: Failure) =>
          formPage(parts, { site, realm, request, offer }, { ...dto, email: username }, failure);
        const cookie = readCookie(request, CSRF_COOKIE);
        if (cookie === undefined || cookie !== dto.csrfmiddlewaretoken) return again(EXPIRED_FORM);
        const logIn = { method: 'password', account: username };
        const browser = browserOf(request);
        try {
          const { user, result } = await useCase.execute(caller, {
            username: username.trim(),
            password,
            purpose: purposeOf(dto),
            cancellation: request.signal,
            userAgent: request.header('user-agent') ?? '',
            browser,
          });
          // The audit line is written once the log-in is complete.
          if (result.kind === 'secondStep') {
            const path = result.step === 'verify' ? '/login/second-factor/' : '/accounts/second-factor/';
            const query = new URLSearchParams({ state: result.state });
            return redirectTo(`${site.base}${path}?${query}`, markBrowser(parts, request, browser));
          }
          return { ...replyToLogIn(parts, { site, request }, user, result), logIn: { ...logIn, failure: null } };
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          const failure = error.is('AUTHENTICATION_FAILED') ? WRONG_PASSWORD : failureOf(error);
          return { ...again(failure), logIn: { ...logIn, failure: error.code } };
        }
      },
    }),
    // Zulip forms that this server does not offer.
    ...['/accounts/go/', '/accounts/find/', '/new/', '/policies/', '/policies/*page'].map((path) =>
      pageRoute(parts, 'GET', path, {
        dto: LogInPageDto,
        handle: async ({ site }) => errorPage(site, NOT_CONFIGURED),
      }),
    ),
  ];
};

/** Shows the form. The cookie of a browser without a session gets a token, which the form must repeat. */
function formPage(
  parts: PageParts,
  { site, realm, request, offer }: FormContext,
  dto: LogInPageDto,
  failure: Failure | null = null,
  /** Shown above the form. */
  notice = failure,
): Reply {
  const cookie = readCookie(request, CSRF_COOKIE);
  const token = cookie ?? newCsrfToken();
  const leadsElsewhere = offer.methods.length > 0 || offer.hasPasskeys;
  return pageReply({
    ...(leadsElsewhere && { script: pageScriptOf(site) }),
    status: failure?.status ?? 200,
    failure: notice,
    headers: cookie === undefined ? parts.sessionCookies.csrf(request, token) : [],
    title: site.t('Log in to {name}', { name: site.name }),
    site,
    content: logInForm(site, realm, {
      dto,
      offer,
      token,
      failure,
      hasDirectory: usesDirectory(realm, parts.serverInfo),
      demo: parts.serverInfo.demo?.realm === realm.stringId ? parts.serverInfo.demo : null,
    }),
  });
}

const PURPOSE_FIELDS = ['next', 'mobile_flow_otp', 'desktop_flow_otp'] as const;

const EXPIRED_FORM: Failure = { status: 403, message: 'The form has expired. Please try again.' };
const WRONG_PASSWORD: Failure = { status: 401, message: 'Your email address or password is incorrect.' };
const NOT_CONFIGURED: Failure = { status: 404, message: 'This feature is not configured on this server.' };

export const isUserOf = ({ id }: Pick<Realm, 'id'>, identity: Identity | undefined): boolean =>
  identity !== undefined && identity.realmId === id;

interface FormContext {
  readonly site: Site;
  readonly realm: Realm;
  readonly request: Request;
  readonly offer: LogInOffer;
}

interface FormState {
  readonly dto: LogInPageDto;
  readonly offer: LogInOffer;
  readonly token: string;
  readonly failure: Failure | null;
  /** True if the organization uses directory passwords. */
  readonly hasDirectory: boolean;
  readonly demo: Demo | null;
}

/** Forms have no action attribute, so that browsers keep the URL fragment during log-in. */
function logInForm(site: Site, realm: Realm, { dto, offer, token, failure, hasDirectory, demo }: FormState): Html {
  const { base, t } = site;
  const { settings } = realm;
  const { methods, hasPasskeys } = offer;
  const { email } = dto;
  const hasOwnPasswords = settings.emailAuthentication;
  const hasPasswords = hasOwnPasswords || hasDirectory;
  const isKnown = failure === null && isHostAddress(email);
  const next = purposeOf(dto).kind === 'session' && html` data-next="${dto.next || `${base}/`}"`;
  const hiddenFields = html`<input type="hidden" name="${CSRF_FIELD}" value="${token}">
${PURPOSE_FIELDS.map(
  (name) =>
    dto[name] !== '' &&
    html`<input type="hidden" name="${name}" value="${dto[name]}">
`,
)}`;
  return html`${
    isKnown &&
    html`<p>${t('An account for {email} already exists.', { email: html`<strong>${email}</strong>` })}</p>
`
  }${
    hasPasswords
      ? html`${
          demo &&
          html`<p>${t('This is a demo. Log in as one of its people:')}</p>
<ul class="people">${demo.accounts.map(
            ({ name, email, password }) =>
              html`<li><form method="post">
${hiddenFields}<input type="hidden" name="username" value="${email}">
<input type="hidden" name="password" value="${password}">
<button class="other">${name}</button></form></li>
`,
          )}</ul>
<p class="or">${t('or')}</p>
`
        }<form method="post">
${hiddenFields}<p><label for="username">${t('Email address')}</label>
<input id="username" name="username" type="email" autocomplete="username" required value="${email}"${fieldState(failure, false)}></p>
<p><label for="password">${t('Password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${fieldState(failure)}></p>
<p><button class="wide">${t('Log in')}</button></p>
${
  hasOwnPasswords &&
  html`<p><a href="${base}/accounts/password/reset/">${t('Forgot your password?')}</a></p>
`
}</form>`
      : methods.length === 0 && html`<p>${t('This organization does not allow logging in with a browser.')}</p>`
  }${
    (methods.length > 0 || hasPasskeys) &&
    html`${hasPasswords && html`<p class="or">${t('or')}</p>`}<ul class="methods"${next}>
${
  hasPasskeys &&
  html`<li><a class="button other" href="${base}/login/passkey/${queryOf(dto)}">${t('Log in with a passkey')}</a></li>
`
}${methods.map((method) => methodButton(site, method, queryOf(dto)))}</ul>`
  }
${signUpHint(site, realm, methods)}`;
}

/** Explains how to get an account. Empty if logging in by one of the methods creates it. */
export function signUpHint(
  { base, t }: Site,
  realm: Pick<Realm, 'settings'>,
  methods: readonly LogInMethod[],
): Html | null {
  const { emailAuthentication, inviteRequired } = realm.settings;
  if (emailAuthentication && !inviteRequired) {
    return html`<p>${t('No account yet? {link}', { link: html`<a href="${base}/register/">${t('Sign up')}</a>` })}</p>`;
  }
  if (methods.some((method) => method.kind === 'host' || admitsStrangers(method, realm))) return null;
  return inviteRequired ? html`<p>${t('An invitation from a member is required to join.')}</p>` : null;
}

/** Shows the server URL, which clients require. */
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
