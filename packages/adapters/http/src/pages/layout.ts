import { createHash, randomBytes } from 'node:crypto';
import type { Injectable, Wired } from '@parley/domain/composition';
import {
  DomainError,
  directionOf,
  type ErrorCode,
  isParsableUrl,
  type RealmUrls,
  type TextLanguage,
} from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import type { WebAssets } from '../declarations/feature.js';
import { type Context, type Method, type Route, route } from '../declarations/route.js';
import type { ServerInfo } from '../declarations/server-info.js';
import { type PublicRealms, publicRealmOf } from '../delivery/public-realm.js';
import { realmImageUrl } from '../files/realm-image-urls.js';
import type { Dto } from '../params/params.js';
import type { SessionCookies } from '../security/authenticate.js';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { type Content, type Html, html } from './html.js';
import { languageOf, type Translate, type Words, wordsIn } from './texts.js';

/** Organization of a page. */
export interface Site extends Words {
  readonly name: string;
  /** URL without trailing slash, for example `https://example.com/chat`. */
  readonly url: string;
  /** Prefix of all paths, for example `/chat`; may be empty. */
  readonly base: string;
  /** Path of the organization's icon. */
  readonly icon: string;
  readonly favicon: string;
}

export interface Page {
  /** Defaults to 200. */
  readonly status?: number;
  /** Page title, also used as heading. */
  readonly title: Html | string;
  /** Error shown above the content, which sets the status and headers. The window's title begins with "Error". */
  readonly failure?: Failure | null;
  /** Null if no organization exists at the address. */
  readonly site: Site | null;
  /** Language of pages without a site; English by default. */
  readonly language?: TextLanguage;
  readonly content: Html;
  /** Path of the page's only script; the page must be useful without it. */
  readonly script?: string;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
}

/** Inlined in the page; the content security policy allows it by digest. */
const STYLE = html`
:root { color-scheme: light dark; --page: #f1f3f6; --card: #fff; --text: #1b1f24; --soft: #545c66; --line: #7b838d;
--accent: #1558b0; --on-accent: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --card: #1f2429; --text: #e8eaed; --soft: #b0b7bf;
--line: #7f8791; --accent: #8ab8ff; --on-accent: #0b1a30; --bad: #ff9a91; } }
* { box-sizing: border-box; }
body { background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 34rem;
padding: 2rem 1rem; overflow-wrap: anywhere; }
header a { align-items: center; color: inherit; display: flex; font-weight: 600; gap: 0.6rem; text-decoration: none; }
header img { border-radius: 0.4rem; height: 2.5rem; width: 2.5rem; }
main { background: var(--card); border-radius: 0.75rem; box-shadow: 0 1px 4px #0003; margin: 1.25rem 0; padding: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
label, legend { display: block; font-weight: 600; margin-bottom: 0.25rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.4rem; margin: 0; }
fieldset label { font-weight: 400; padding: 0.2rem 0; }
input, select, textarea { background: var(--card); border: 1px solid var(--line); border-radius: 0.4rem; color: inherit; font: inherit;
min-height: 2.75rem; padding: 0.4rem 0.7rem; width: 100%; }
input[readonly] { background: var(--page); }
input[type=checkbox] { min-height: 0; height: 1.25rem; vertical-align: middle; width: 1.25rem; }
button, .button { background: var(--accent); border: 1px solid var(--accent); border-radius: 0.4rem; color: var(--on-accent);
cursor: pointer; display: inline-block; font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.55rem 1.2rem;
text-align: center; text-decoration: none; }
button:disabled { cursor: default; opacity: 0.6; }
.wide { width: 100%; }
.other { align-items: center; background: none; color: var(--accent); display: flex; gap: 0.6rem; justify-content: center; }
.other img { height: 1.25rem; width: 1.25rem; }
.methods { list-style: none; margin: 0; padding: 0; }
.methods li { margin: 0.6rem 0; }
.people { display: grid; gap: 0.6rem; grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); list-style: none; padding: 0; }
.people form { height: 100%; }
.people .other { height: 100%; padding: 0.4rem 0.6rem; width: 100%; }
.or { align-items: center; color: var(--soft); display: flex; gap: 0.8rem; margin: 1.25rem 0; }
.or::before, .or::after { border-top: 1px solid var(--line); content: ""; flex: 1; }
pre { background: var(--page); border-radius: 0.4rem; overflow-x: auto; padding: 0.7rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.8rem; }
.alert { border-inline-start: 0.3rem solid var(--bad); margin: 0 0 1rem; padding: 0.5rem 1rem; }
.qr { background: #fff; border-radius: 0.4rem; display: block; height: auto; margin: 1rem auto; max-width: 15rem; padding: 0.5rem; width: 100%; }
.codes { columns: 10rem auto; white-space: nowrap; font: 1.1rem/1.9 ui-monospace, monospace; list-style: none; margin: 1rem 0; padding: 0; }
.factors { list-style: none; margin: 0 0 1rem; padding: 0; }
.factors li { align-items: center; border-top: 1px solid var(--line); display: flex; gap: 1rem; justify-content: space-between; padding: 0.6rem 0; }
.factors button { white-space: nowrap; }
summary { color: var(--accent); cursor: pointer; font-weight: 600; padding: 0.6rem 0; }
[hidden] { display: none; }
.hint { color: var(--soft); margin: 0.2rem 0 0; }
.code { font: 1.1rem/1.5 ui-monospace, monospace; }
`;

/** Forbids loading resources and running scripts, except one script; forms may only be sent to this server. */
const contentSecurityPolicy = (scriptNonce?: string): string =>
  [
    "default-src 'none'",
    ...(scriptNonce === undefined ? [] : [`script-src 'nonce-${scriptNonce}'`]),
    `style-src 'sha256-${createHash('sha256').update(STYLE.markup).digest('base64')}'`,
    "img-src 'self'",
    // A form may redirect to the phone app that requested the log-in.
    "form-action 'self' zulip:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const OTHER_HEADERS = [
  // Page URLs may contain secret keys, and the origin check of forms needs an Origin header.
  'Referrer-Policy',
  'same-origin',
  'X-Robots-Tag',
  'noindex',
];
const HEADERS = ['Content-Security-Policy', contentSecurityPolicy(), ...OTHER_HEADERS];

export function pageReply({ failure = null, title, site, language, content, script, ...page }: Page): Reply {
  const { status = failure?.status ?? 200, headers = [] } = page;
  const lang = site?.language ?? language ?? 'en';
  const nonce = script === undefined ? undefined : randomBytes(16).toString('base64');
  const { markup } = html`<!DOCTYPE html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<title>${site && failure ? site.t('Error: {title}', { title }) : title}${site && title !== site.name && html` &ndash; ${site.name}`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${
  site &&
  html`<link rel="icon" href="${site.favicon}">
`
}<style>${STYLE}</style>
${
  script !== undefined &&
  html`<script src="${script}" nonce="${nonce!}" defer></script>
`
}</head>
<body>
${
  site &&
  html`<header><a href="${site.base}/"><img src="${site.icon}" alt="">${site.name}</a></header>
`
}<main>
<h1>${title}</h1>
${site && alert(site, failure)}${content}
</main>
</body>
</html>
`;
  return {
    status,
    body: markup,
    contentType: 'text/html; charset=utf-8',
    contentLanguage: lang,
    cacheControl: 'no-store',
    headers: [
      ...(nonce === undefined ? HEADERS : ['Content-Security-Policy', contentSecurityPolicy(nonce), ...OTHER_HEADERS]),
      ...(failure?.headers ?? []),
      ...headers,
    ],
  };
}

/** Redirects to another page of the organization, so that reloading does not resend the form. */
export const seeOther = ({ base }: Site, path: string): Reply => redirectTo(base + path);

/** Redirects to any address; the browser does not resend the form. */
export const redirectTo = (address: string, headers: readonly string[] = []): Reply => ({
  status: 303,
  body: '',
  contentType: 'text/html; charset=utf-8',
  cacheControl: 'no-store',
  headers: ['Location', address, ...HEADERS, ...headers],
});

/**
 * Returns the path to open after log-in: `next` if it is a path of this site, else the start page. Browsers treat
 * `//host` and `/\host` as other sites and ignore tabs and line breaks.
 */
export function targetOf({ base, url }: Pick<Site, 'base' | 'url'>, next: string): string {
  const start = `${base}/`;
  if (!next.startsWith('/') || !isParsableUrl(next, url)) return start;
  const { origin, pathname, search, hash } = new URL(next, url);
  return origin === new URL(url).origin && !pathname.startsWith('//') ? pathname + search + hash : start;
}

/**
 * True if a form was sent by one of our pages or by a program. Newer browsers report the source in `Sec-Fetch-Site` on
 * secure connections. All browsers report it in `Origin`, which is never `http` under https (protocol §7.6). `url` is
 * the organization's URL.
 */
export function isFromOwnPage(
  request: Request,
  { url, isSecure }: { readonly url: string; readonly isSecure: boolean },
) {
  const origin = request.header('origin');
  if (isSecure && origin?.startsWith('http:')) return false;
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (origin === undefined) return true;
  if (!isParsableUrl(origin)) return false; // `null`, sent by a page without an origin
  return [new URL(url).host, request.authority].includes(new URL(origin).host);
}

/** Dependencies of pages. */
export interface PageParts {
  readonly realmUrls: RealmUrls;
  readonly publicRealms: PublicRealms;
  readonly sessionCookies: SessionCookies;
  readonly webAssets: WebAssets | null;
  readonly frameAncestors: readonly string[];
  readonly serverInfo: Pick<ServerInfo, 'directoryRealms' | 'demo' | 'giphyApiKey' | 'isQuiet'>;
}

/** Request for a page of an organization. */
export interface Visit<D, U> extends Context<'anyone', D, U> {
  readonly realm: Realm;
  readonly site: Site;
}

export interface PageSpec<D extends object, C extends Injectable> {
  readonly dto: Dto<D>;
  readonly useCase?: C & Wired<C>;
  /** True if an overloaded server should reject the request. */
  readonly isExpensive?: boolean;
  /** True to provide `identity`, the user logged in to the browser. */
  readonly knowsCaller?: boolean;
  /** True for forms sent by other sites, possibly without the user's intent. */
  readonly isForOtherSites?: boolean;
  /** Shows form errors itself; thrown errors produce an error page. */
  readonly handle: (visit: Visit<D, InstanceType<C>>) => Promise<Reply>;
}

const wordsFor = (request: Request, realmLanguage?: string): Words =>
  wordsIn(languageOf(request.header('accept-language'), realmLanguage));

/** Declares a browser page at the root. Errors are shown as pages too. */
export const pageRoute = <D extends object, C extends Injectable>(
  { realmUrls, publicRealms, sessionCookies, webAssets }: PageParts,
  method: Extract<Method, 'GET' | 'POST'>,
  path: string,
  { handle, isForOtherSites = false, knowsCaller = false, ...spec }: PageSpec<D, C>,
): Route =>
  route<'anyone' | 'visitor', D, C>(method, path, {
    ...spec,
    summary: null,
    auth: knowsCaller ? 'visitor' : 'anyone',
    atRoot: true,
    limit: 'pages_by_ip',
    errorPage: (failure, request) => errorPage(null, refusalOf(failure, method), wordsFor(request)),
    handle: async (context) => {
      const { request, caller } = context;
      if (caller.realmId === null) return noOrganizationPage(wordsFor(request));
      const realm = await publicRealms.load(caller.realmId);
      const url = realmUrls.urlOf(realm);
      const base = new URL(url).pathname.replace(/\/$/, '');
      const words = wordsFor(request, realm.settings.defaultLanguage);
      const icon = base + realmImageUrl('icon', realm.images.icon, { ...publicRealmOf(realm, realmUrls), url: '' });
      // The web client contains the logo.
      const favicon = webAssets && !realm.images.icon.isUploaded ? `${base}/web/logo.svg` : icon;
      const site = { name: realm.name, url, base, icon, favicon, ...words };
      if (realm.isDeactivated) return errorPage(site, DEACTIVATED);
      const isSecure = sessionCookies.isSecure(request);
      if (method === 'POST' && !isForOtherSites && !isFromOwnPage(request, { url, isSecure })) {
        return errorPage(site, FOREIGN_FORM);
      }
      try {
        return await handle({ ...context, realm, site });
      } catch (error) {
        if (error instanceof DomainError) return errorPage(site, failureOf(error));
        throw error;
      }
    },
  });

/**
 * Replaces the API's rate limit text, which is written for programs. Makes browsers reload a page that a busy server
 * refused; forms are not resent.
 */
function refusalOf(failure: Failure, method: Method): Failure {
  const { status, headers = [] } = failure;
  if (status === 429) {
    const seconds = Number(headers[headers.indexOf('Retry-After') + 1]) || 1;
    return { ...failure, message: tooOften(seconds), headers: retryLater(seconds) };
  }
  if (status !== 503 || method !== 'GET') return failure;
  return { ...failure, headers: [...headers, 'Refresh', '2'] };
}

/** Error as shown on a page. */
export interface Failure {
  readonly status: number;
  readonly code?: ErrorCode;
  /** Translated when shown, except for templates. */
  readonly message: string | ((t: Translate) => Html);
  /** Shown below the message on an error page. */
  readonly more?: Html;
  readonly headers?: readonly string[];
}

const DEACTIVATED: Failure = { status: 404, message: 'This organization has been deactivated.' };
const FOREIGN_FORM: Failure = {
  status: 403,
  message: 'This form was sent from a page of another site. Reload the page and send the form again.',
};

/** Errors that mean a broken link. */
const BROKEN_LINKS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_INVITATION_KEY',
  'UNKNOWN_INVITATION',
  'INVITATION_EXPIRED',
  'UNKNOWN_CONFIRMATION',
  'CONFIRMATION_EXPIRED',
]);

export const isBrokenLink = (error: unknown): boolean => error instanceof DomainError && BROKEN_LINKS.has(error.code);

/** Converts a domain error to text for users. */
export function failureOf(error: DomainError): Failure {
  const { code, message } = error;
  if (error.is('RATE_LIMITED')) {
    const { retryAfter } = error.details;
    return { status: 429, message: tooOften(retryAfter), headers: retryLater(retryAfter) };
  }
  if (error.kind === 'unavailable') {
    const seconds = error.is('SERVER_BUSY') ? error.details.retryAfter : 1;
    return { status: 503, message: 'The server is busy; try again in a moment.', headers: retryLater(seconds) };
  }
  return { status: isBrokenLink(error) ? 404 : 400, code, message };
}

const retryLater = (seconds: number): readonly string[] => ['Retry-After', String(Math.ceil(seconds))];

function tooOften(retryAfter: number): Exclude<Failure['message'], string> {
  const minutes = Math.ceil(retryAfter / 60);
  return (t) => {
    if (minutes === 1) return t('Too many attempts. Try again in one minute.');
    return minutes < 120
      ? t('Too many attempts. Try again in {count} minutes.', { count: minutes })
      : t('Too many attempts. Try again in {count} hours.', { count: Math.ceil(minutes / 60) });
  };
}

const messageIn = ({ message, t }: Words, failure: Failure): Content =>
  typeof failure.message === 'string' ? message(failure.message) : failure.message(t);

export function errorPage(site: Site, failure: Failure): Reply;
export function errorPage(site: null, failure: Failure, words: Words): Reply;
export function errorPage(site: Site | null, failure: Failure, words: Words = site!): Reply {
  const { status, headers = [] } = failure;
  return pageReply({
    status,
    title: words.t(status >= 500 ? 'Something went wrong' : 'That did not work'),
    site,
    language: words.language,
    headers,
    content: html`<p role="alert" class="alert">${messageIn(words, failure)}</p>${failure.more ?? null}`,
  });
}

/** Shown for paths without a page. `start` is the path of the start page. */
export function notFoundPage(acceptLanguage: string | undefined, start: string): Reply {
  const { t, language } = wordsIn(languageOf(acceptLanguage));
  return pageReply({
    status: 404,
    title: t('Page not found'),
    site: null,
    language,
    content: html`<p role="alert" class="alert">${t('There is no page at this address.')}</p>
<p><a href="${start}">${t('Go to the start page')}</a></p>`,
  });
}

/** Shown for a mistyped host name and on a newly installed server. */
const noOrganizationPage = ({ t, language }: Words): Reply =>
  pageReply({
    status: 404,
    title: t('No organization'),
    site: null,
    language,
    content: html`<p role="alert" class="alert">${t('There is no organization at this address.')}</p>
<p>${t(
      'This is a Parley server: a team chat that speaks the Zulip API. Each organization on it has an address of its own; ask whoever invited you for yours.',
    )}</p>
<p>${t('If you run this server, {list} shows the addresses, and {create} makes the first organization.', {
      list: html`<code>parley realm list</code>`,
      create: html`<code>parley realm create '' 'My organization'</code>`,
    })}</p>`,
  });

/** Submits a form and shows errors in it, except errors that mean a broken link. */
export async function submit(
  send: () => Promise<Reply>,
  showForm: (failure: Failure) => Reply | Promise<Reply>,
): Promise<Reply> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof DomainError) || isBrokenLink(error)) throw error;
    return showForm(failureOf(error));
  }
}

/** Error message above a form. */
export const alert = (site: Site, failure: Failure | null): Html | null =>
  failure && html`<p role="alert" class="alert" id="problem">${messageIn(site, failure)}</p>`;

/**
 * Attributes of a required field. With an error, the page opens at the field that caused it, and screen readers read the
 * error there. Otherwise they do not call the empty field invalid.
 */
export const fieldState = (failure: Failure | null, isFocused = true): Html =>
  failure
    ? html` aria-describedby="problem" aria-invalid="true"${isFocused && html` autofocus`}`
    : html` aria-invalid="false"`;
