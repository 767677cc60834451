import {
  CONNECT_SECONDS,
  ConnectAccount,
  type ConnectionInput,
  type ConnectionOffer,
  GetConnection,
  type UnprovenLogIn,
} from '@parley/domain/log-in';
import type { Route } from '../declarations/route.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { readServiceLogIn } from '../security/authenticate.js';
import type { LogInRecord, Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { html } from './html.js';
import {
  alert,
  type Failure,
  failureOf,
  type PageParts,
  pageReply,
  pageRoute,
  type Site,
  type Visit,
} from './layout.js';

class ConnectionDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) state = '';
}

/** Path within that of the cookies of pending log-ins. */
const PATH = '/accounts/login/connect/';

/** Pages that link an account at a service after its address was proven by a log-in (protocol §8.2). */
export const accountConnectionPages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', PATH, {
    dto: ConnectionDto,
    knowsCaller: true,
    useCase: GetConnection,
    handle: async (visit) => {
      const { site, dto } = visit;
      const offer = await visit.useCase.execute(visit.caller, inputOf(visit));
      return offer.isProven ? confirmPage(site, dto, offer) : choicePage(site, dto, offer);
    },
  }),
  pageRoute(parts, 'POST', PATH, {
    dto: ConnectionDto,
    knowsCaller: true,
    useCase: ConnectAccount,
    handle: async (visit) => {
      const { site, request, dto } = visit;
      const { t, base } = site;
      const { user, method } = await visit.useCase.execute(visit.caller, inputOf(visit));
      const page = pageReply({
        title: t('Your account is connected'),
        site,
        headers: parts.sessionCookies.endServiceLogIn(request, dto.state),
        content: html`<p>${t('From now on you can log in with {method}.', { method: method.displayName })}</p>
<p><a class="button" href="${base}/">${t('Continue')}</a></p>`,
      });
      return { ...page, logInChange: { account: user.email, method: method.name, change: 'linked' } };
    },
  }),
];

function inputOf({
  realm,
  request,
  identity,
  dto: { state },
}: Pick<Visit<ConnectionDto, unknown>, 'realm' | 'request' | 'identity' | 'dto'>): ConnectionInput {
  const { userId, session } = identity?.realmId === realm.id ? identity : {};
  const visitor = userId !== undefined && session ? { userId, sessionId: session.id } : null;
  return { state, sealed: readServiceLogIn(request, state), visitor };
}

/** Offers both ways to prove the address of a log-in, and keeps its account in the browser for the second one. */
export function unprovenPage(
  { sessionCookies }: PageParts,
  { site, request }: { readonly site: Site; readonly request: Request },
  unproven: UnprovenLogIn,
): Reply & { readonly logIn: LogInRecord } {
  const { method, unproven: email, refusedEmail } = unproven;
  const page = choicePage(site, unproven, { method, email }, refusedEmail && failureOf(refusedEmail));
  const headers = sessionCookies.beginServiceLogIn(request, unproven, CONNECT_SECONDS);
  return {
    ...page,
    headers: [...(page.headers ?? []), ...headers],
    logIn: { method: method.name, account: email, failure: refusedEmail?.code ?? 'UNVERIFIED_EMAIL' },
  };
}

/** Same page whether or not the address has an account. */
function choicePage(
  site: Site,
  { state }: ConnectionDto,
  { method: { displayName: method }, email }: Pick<ConnectionOffer, 'method' | 'email'>,
  refusedEmail: Failure | null = null,
): Reply {
  const { t, base } = site;
  const next = `${base}${PATH}?${new URLSearchParams({ state })}`;
  const logIn = `${base}/login/?${new URLSearchParams({ prompt: 'login', next })}`;
  return pageReply({
    status: refusedEmail?.status ?? 400,
    headers: refusedEmail?.headers ?? [],
    title: t('Is {email} your address?', { email }),
    site,
    content: html`<p role="alert" class="alert">${t('The service does not vouch for your email address.')}
${t('Prove in one of two ways that it is yours.')}</p>
<h2>${t('By email')}</h2>
${
  alert(site, refusedEmail) ??
  html`<p>${t('Unless the address may not log in here, we have sent a link to it. Open the link to continue.')}</p>`
}
<h2>${t('By logging in')}</h2>
<p>${t('Do you already have an account here with this address? Log in to it to connect it with {method}.', { method })}</p>
<p><a class="button wide" href="${logIn}">${t('Log in to connect')}</a></p>`,
  });
}

function confirmPage(
  site: Site,
  { state }: ConnectionDto,
  { method: { displayName: method }, email }: ConnectionOffer,
): Reply {
  const { t, base } = site;
  return pageReply({
    title: t('Connect your account?'),
    site,
    content: html`<p>${t(
      'Your account here has the address {email}, and so has an account at {method}. Connect them only if both are yours: whoever logs in there then gets into your account here.',
      { email: html`<strong>${email}</strong>`, method },
    )}</p>
<form method="post" action="${base}${PATH}"><input type="hidden" name="state" value="${state}">
<p><button class="wide">${t('Connect')}</button></p></form>`,
  });
}
