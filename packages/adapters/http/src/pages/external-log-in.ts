import { DomainError } from '@parley/domain/kernel';
import {
  BeginLogIn,
  CompleteLogIn,
  callbackPath,
  DescribeToService,
  EndServiceSessions,
  isOneTimePad,
  ListLogInMethods,
  LOG_IN_SECONDS,
  LogInByDesktopToken,
  type LogInMethod,
  type LogInPurpose,
  type LogInResult,
} from '@parley/domain/log-in';
import { GetConfirmation } from '@parley/domain/membership';
import type { User } from '@parley/domain/users';
import type { Route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { MAX_SEALED_LENGTH, readServiceLogIn } from '../security/authenticate.js';
import type { LogInRecord, Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { unprovenPage } from './account-connections.js';
import { type Html, html } from './html.js';
import {
  errorPage,
  failureOf,
  type PageParts,
  pageReply,
  pageRoute,
  redirectTo,
  type Site,
  targetOf,
  type Visit,
} from './layout.js';

/** Purpose of a browser log-in; apps send a one-time pad or a key (protocol §8.2). */
export class LogInPurposeDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) next = '';
  @TextParam({ max: MAX_TOKEN_LENGTH }) mobile_flow_otp = '';
  @TextParam({ max: MAX_TOKEN_LENGTH }) desktop_flow_otp = '';
}

/** Equal to the body limit for anonymous callers. */
const MAX_RESPONSE_LENGTH = 50_000;
const NO_FIELDS: ReadonlyMap<string, string> = new Map();

class BeginDto extends LogInPurposeDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) method!: string;
  /** Invitation or address confirmation key. */
  @TextParam({ max: MAX_TOKEN_LENGTH }) key = '';
}

class KeyDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) key!: string;
}

/** Services add further parameters. */
class CompleteDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) method!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) state = '';
}

class MethodDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) method!: string;
}

/** Response of an identity provider (SAML 2.0). */
class FormResponseDto extends MethodDto {
  @TextParam({ max: MAX_RESPONSE_LENGTH }) SAMLResponse = '';
  @TextParam({ max: MAX_TOKEN_LENGTH }) RelayState = '';
}

/** Notice from a service (OpenID Connect Back-Channel Logout). */
class LogOutNoticeDto extends MethodDto {
  @TextParam({ max: MAX_RESPONSE_LENGTH }) logout_token = '';
}

class TokenDto {
  @TextParam({ max: MAX_SEALED_LENGTH }) token!: string;
}

/** Longer paths are replaced by the start page, because browsers keep the path in a cookie during log-in. */
const MAX_NEXT_BYTES = 1000;

const DESKTOP_PATH = '/accounts/login/subdomain/:token';

/** @throws DomainError INVALID_ONE_TIME_PAD */
export function purposeOf({ next, mobile_flow_otp, desktop_flow_otp }: LogInPurposeDto): LogInPurpose {
  const otp = mobile_flow_otp || desktop_flow_otp;
  if (otp === '') {
    return { kind: 'session', next: Buffer.byteLength(JSON.stringify(next)) <= MAX_NEXT_BYTES ? next : '' };
  }
  if (!isOneTimePad(otp) || (mobile_flow_otp !== '' && desktop_flow_otp !== '')) {
    throw new DomainError('INVALID_ONE_TIME_PAD', 'The app sent an invalid one-time pad.');
  }
  return { kind: mobile_flow_otp === '' ? 'desktop' : 'phone', otp };
}

/** Query that preserves the purpose. */
export function queryOf({ next, mobile_flow_otp, desktop_flow_otp }: LogInPurposeDto): string {
  const options = Object.entries({ next, mobile_flow_otp, desktop_flow_otp }).filter(([, value]) => value !== '');
  return options.length === 0 ? '' : `?${new URLSearchParams(options)}`;
}

/** True for services, which identify users by address; the host application identifies its users itself. */
export const isService = ({ kind }: LogInMethod): boolean => kind !== 'host';

/** List item that begins a log-in; `query` is empty or begins with `?`. */
export const methodButton = (
  { base, t }: Site,
  { name, displayName }: LogInMethod,
  query: string,
): Html => html`<li><a class="button other" href="${base}/accounts/login/external/${name}/${query}">${t('Log in with {method}', { method: displayName })}</a></li>
`;

/** Buttons that begin log-ins with an invitation or confirmation key; null if there are none. */
export const serviceButtons = (site: Site, methods: readonly LogInMethod[], key: string | null): Html => {
  const query = key === null ? '' : `?${new URLSearchParams({ key })}`;
  return html`<ul class="methods">${methods.map((method) => methodButton(site, method, query))}</ul>`;
};

/** Returns the response required by the purpose of the log-in. */
export function replyToLogIn(
  { sessionCookies }: PageParts,
  { site, request }: { readonly site: Site; readonly request: Request },
  { email, id }: Pick<User, 'email' | 'id'>,
  result: LogInResult,
): Reply {
  if (result.kind === 'session') {
    return redirectTo(targetOf(site, result.next), sessionCookies.begin(request, result.session));
  }
  if (result.kind === 'phone') {
    const { encryptedKey, realmUrl } = result;
    const fields = { otp_encrypted_api_key: encryptedKey, email, user_id: String(id), realm: realmUrl };
    return redirectTo(`zulip://login?${new URLSearchParams(fields)}`);
  }
  const { t } = site;
  return pageReply({
    title: t('Finish logging in'),
    site,
    content: html`<p>${t('Copy this code and paste it into the app. It is good for five minutes.')}</p>
<p><label for="code">${t('Code')}</label>
<textarea id="code" class="code" rows="5" readonly>${result.encryptedToken}</textarea></p>`,
  });
}

/** Pages for log-in through other services (protocol §8.2, §10). */
export const externalLogInPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/accounts/login/external/:method/', {
    dto: BeginDto,
    useCase: BeginLogIn,
    handle: async ({ caller, request, dto, useCase }) => {
      const { method, key } = dto;
      const begun = await useCase.execute(caller, { method, purpose: purposeOf(dto), key: key === '' ? null : key });
      return redirectTo(begun.address, parts.sessionCookies.beginServiceLogIn(request, begun, LOG_IN_SECONDS));
    },
  }),
  // Opened by an email link, sent to an address that a service does not verify.
  pageRoute(parts, 'GET', '/accounts/login/confirm/:key', {
    dto: KeyDto,
    useCase: GetConfirmation,
    handle: async ({ site, caller, dto: { key }, useCase, resolve }) => {
      const { confirmation } = await useCase.execute(caller, { purpose: 'logIn', key });
      const { methods } = await resolve(ListLogInMethods).execute(caller);
      return pageReply({
        title: site.t('Confirm your address'),
        site,
        content: html`<p>${site.t('Log in again to confirm that {email} is your address.', {
          email: html`<strong>${confirmation.email}</strong>`,
        })}</p>
${serviceButtons(site, methods.filter(isService), key)}`,
      });
    },
  }),
  pageRoute(parts, 'GET', '/accounts/login/complete/:method/', {
    dto: CompleteDto,
    isExpensive: true,
    knowsCaller: true,
    useCase: CompleteLogIn,
    handle: (visit) => complete(parts, visit, { method: visit.dto.method, state: visit.dto.state, fields: NO_FIELDS }),
  }),
  // Receives the form of an identity provider's page.
  pageRoute(parts, 'POST', '/accounts/login/complete/:method/', {
    dto: FormResponseDto,
    isExpensive: true,
    isForOtherSites: true,
    useCase: CompleteLogIn,
    handle: (visit) => {
      const { method, RelayState: state, SAMLResponse } = visit.dto;
      return complete(parts, visit, { method, state, fields: new Map([['SAMLResponse', SAMLResponse]]) });
    },
  }),
  // Called by the service itself, which reads only the status.
  pageRoute(parts, 'POST', '/accounts/login/logout/:method/', {
    dto: LogOutNoticeDto,
    isExpensive: true,
    isForOtherSites: true,
    useCase: EndServiceSessions,
    handle: async ({ caller, dto: { method, logout_token: token }, useCase }) => {
      const user = await useCase.execute(caller, { method, token });
      const reply = { status: 200, body: '', contentType: 'text/plain', cacheControl: 'no-store' };
      return user ? { ...reply, logInChange: { account: user.email, method: 'session', change: 'ended' } } : reply;
    },
  }),
  pageRoute(parts, 'GET', '/accounts/login/metadata/:method/', {
    dto: MethodDto,
    useCase: DescribeToService,
    handle: async ({ caller, dto, useCase }) => ({
      status: 200,
      body: await useCase.execute(caller, dto.method),
      contentType: 'application/samlmetadata+xml',
    }),
  }),
  // The desktop app opens this path with the decrypted token.
  pageRoute(parts, 'GET', DESKTOP_PATH, {
    dto: TokenDto,
    knowsCaller: true,
    useCase: LogInByDesktopToken,
    handle: async (visit) =>
      isOpenedByUser(visit) ? logInDesktop(parts, visit) : confirmDesktopPage(visit.site, visit.dto),
  }),
  pageRoute(parts, 'POST', DESKTOP_PATH, {
    dto: TokenDto,
    useCase: LogInByDesktopToken,
    handle: (visit) => logInDesktop(parts, visit),
  }),
];

/** False for links from other sites. If the source is unknown, true only in a browser that is not logged in. */
function isOpenedByUser({ request, identity }: Pick<Visit<unknown, unknown>, 'request' | 'identity'>): boolean {
  const site = request.header('sec-fetch-site');
  return site === undefined ? identity === undefined : site === 'none' || site === 'same-origin';
}

const confirmDesktopPage = (site: Site, { token }: TokenDto): Reply =>
  pageReply({
    title: site.t('Log in here?'),
    site,
    content: html`<p>${site.t('Another page opened this address. Go on only if you began this log-in yourself: it ends the session that this browser has.')}</p>
<form method="post" action="${site.base}/accounts/login/subdomain/${token}"><p><button class="wide">${site.t('Log in')}</button></p></form>`,
  });

const logInDesktop = (
  parts: PageParts,
  { site, caller, request, dto: { token }, useCase }: Visit<TokenDto, LogInByDesktopToken>,
): Promise<Reply> =>
  audited(site, 'desktop', async () => {
    const userAgent = request.header('user-agent') ?? '';
    const session = await useCase.execute(caller, { token, userAgent });
    const logIn = { method: 'desktop', account: session.user.email, failure: null };
    return { ...redirectTo(`${site.base}/`, parts.sessionCookies.begin(request, session)), logIn };
  });

/** Completes an external log-in when the browser returns. */
async function complete(
  parts: PageParts,
  { site, caller, request, identity, useCase }: Visit<unknown, CompleteLogIn>,
  {
    method,
    state,
    fields,
  }: { readonly method: string; readonly state: string; readonly fields: ReadonlyMap<string, string> },
): Promise<Reply> {
  const flow = readServiceLogIn(request, state);
  const reply = await audited(site, method, async (identified) => {
    const completed = await useCase.execute(caller, {
      method,
      state,
      flow,
      response: { url: `${site.url}${callbackPath(method)}?${request.query}`, fields },
      hostUserId: identity?.isHostLogin && identity.realmId === caller.realmId ? identity.userId : null,
      userAgent: request.header('user-agent') ?? '',
      identified,
    });
    if ('unproven' in completed) return unprovenPage(parts, { site, request }, completed);
    const { user, change, result } = completed;
    const logIn = { method, account: user.email, failure: null, change };
    return { ...replyToLogIn(parts, { site, request }, user, result), logIn };
  });
  if (reply.logIn?.failure !== null) return reply;
  return { ...reply, headers: [...(reply.headers ?? []), ...parts.sessionCookies.endServiceLogIn(request, state)] };
}

/** Shows log-in errors and reports them to the audit log. */
export async function audited(
  site: Site,
  method: string,
  logIn: (identified: (account: string) => void) => Promise<Reply & { logIn?: LogInRecord }>,
): Promise<Reply> {
  let account: string | null = null;
  try {
    return await logIn((it) => {
      account = it;
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const more = html`<p><a class="button" href="${site.base}/login/">${site.t('Log in')}</a></p>`;
    const page = errorPage(site, { ...failureOf(error), more });
    return { ...page, logIn: { method, account, failure: error.code } };
  }
}
