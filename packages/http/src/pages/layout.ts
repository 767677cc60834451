import { createHash } from 'node:crypto';
import type { Injectable, Wired } from '@parley/domain/composition';
import { DomainError, type ErrorCode, escapeHtml, type RealmUrls } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import type { Dto } from '../kernel/params.js';
import type { PublicRealms } from '../kernel/public-realm.js';
import type { Reply } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';
import { type Context, type Method, type Route, route } from '../kernel/route.js';

/** Content of a template: markup, or text that is escaped. False and null render nothing. */
export type Content = Html | string | number | false | null | readonly Content[];

/** Trusted markup that only `html` templates can create. */
export class Html {
  private constructor(readonly markup: string) {}

  /**
   * Tag of a template literal. Place values only in text or double-quoted attributes, never in tag or attribute
   * names, scripts or styles.
   */
  static readonly template = (texts: TemplateStringsArray, ...values: readonly Content[]): Html =>
    new Html(texts.reduce((markup, text, index) => markup + markupOf(values[index - 1]!) + text));
}

export const html = Html.template;

function markupOf(content: Content): string {
  if (content === null || content === false) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'object') return content.map(markupOf).join('');
  return escapeHtml(String(content));
}

/** Organization of a page. */
export interface Site {
  readonly name: string;
  /** URL without trailing slash, for example `https://example.com/chat`. */
  readonly url: string;
  /** Prefix of all paths, for example `/chat`; may be empty. */
  readonly base: string;
}

export interface Page {
  /** Defaults to 200. */
  readonly status?: number;
  /** Page title, also used as heading. */
  readonly title: string;
  /** Null if no organization exists at the address. */
  readonly site: Site | null;
  readonly content: Html;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
}

/** Inlined in the page and allowed by its digest in the policy. */
const STYLE = html`
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: 2rem 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
label, legend { display: block; font-weight: 600; }
fieldset { border: 1px solid; margin: 0; }
fieldset label { font-weight: 400; }
input, select { box-sizing: border-box; font: inherit; max-width: 100%; padding: 0.4rem; width: 24rem; }
input[type=checkbox] { width: auto; }
button { cursor: pointer; font: inherit; padding: 0.5rem 1.2rem; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid; }
.alert { border-left: 0.3rem solid #c0392b; padding: 0.5rem 1rem; }
.hint { margin: 0.2rem 0 0; }
footer { border-top: 1px solid; font-size: 0.9rem; margin-top: 3rem; }
`;

/** Forbids loading resources and running scripts; forms may only be sent to this server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE.markup).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = [
  'Content-Security-Policy',
  CONTENT_SECURITY_POLICY,
  // URLs of pages may contain secret keys, and forms need an Origin header to pass the origin check.
  'Referrer-Policy',
  'same-origin',
  'X-Robots-Tag',
  'noindex',
];

export function pageReply({ status = 200, title, site, content, headers = [] }: Page): Reply {
  const heading = site && title !== site.name ? `${title} – ${site.name}` : title;
  const { markup } = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${heading}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
${
  site &&
  html`<footer><p><a href="${site.base}/">${site.name}</a></p></footer>
`
}</body>
</html>
`;
  return {
    status,
    body: markup,
    contentType: 'text/html; charset=utf-8',
    cacheControl: 'no-store',
    headers: [...HEADERS, ...headers],
  };
}

/** Redirects to another page of the organization, so that reloading does not resend the form. */
export const seeOther = ({ base }: Site, path: string): Reply => ({
  status: 303,
  body: '',
  contentType: 'text/html; charset=utf-8',
  cacheControl: 'no-store',
  headers: ['Location', base + path, ...HEADERS],
});

/**
 * True if a form was sent by one of our pages or by a program. Newer browsers report the source in `Sec-Fetch-Site`
 * on secure connections, all of them in `Origin`. `url` is the organization's URL.
 */
export function isFromOwnPage(request: Request, url: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = request.header('origin');
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false; // `null`, of a page without an origin
  return [new URL(url).host, request.authority].includes(new URL(origin).host);
}

/** Dependencies of pages. */
export interface PageParts {
  readonly realmUrls: RealmUrls;
  readonly publicRealms: PublicRealms;
}

/** Request to a page of an organization. */
export interface Visit<D, U> extends Context<'anyone', D, U> {
  readonly realm: Realm;
  readonly site: Site;
}

export interface PageSpec<D extends object, C extends Injectable> {
  readonly dto: Dto<D>;
  readonly useCase?: C & Wired<C>;
  /** True if an overloaded server should reject the request. */
  readonly isExpensive?: boolean;
  /** Shows form errors itself; thrown errors become an error page. */
  readonly handle: (visit: Visit<D, InstanceType<C>>) => Promise<Reply>;
}

/** Declares a browser page at the root. Errors are shown as pages too. */
export const pageRoute = <D extends object, C extends Injectable>(
  { realmUrls, publicRealms }: PageParts,
  method: Extract<Method, 'GET' | 'POST'>,
  path: string,
  { handle, ...spec }: PageSpec<D, C>,
): Route =>
  route<'anyone', D, C>(method, path, {
    ...spec,
    auth: 'anyone',
    atRoot: true,
    errorPage: (failure) => errorPage(null, failure),
    handle: async (context) => {
      const { request, caller } = context;
      if (caller.realmId === null) return noOrganizationPage();
      const realm = await publicRealms.load(caller.realmId);
      const url = realmUrls.urlOf(realm);
      const site = { name: realm.name, url, base: new URL(url).pathname.replace(/\/$/, '') };
      if (realm.isDeactivated) return errorPage(site, DEACTIVATED);
      if (method === 'POST' && !isFromOwnPage(request, url)) return errorPage(site, FOREIGN_FORM);
      try {
        return await handle({ ...context, realm, site });
      } catch (error) {
        if (error instanceof DomainError) return errorPage(site, failureOf(error));
        throw error;
      }
    },
  });

/** Error as shown on a page. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers?: readonly string[];
}

const DEACTIVATED: Failure = { status: 404, message: 'This organization has been deactivated.' };
const FOREIGN_FORM: Failure = {
  status: 403,
  message: 'This form was sent from a page of another site. Open the page anew and send it from there.',
};

/** Error codes that mean a broken link. */
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
  const { message } = error;
  if (error.is('RATE_LIMITED')) {
    const { retryAfter } = error.details;
    return { status: 429, message: tooOften(retryAfter), headers: retryLater(retryAfter) };
  }
  if (error.kind === 'unavailable') {
    const seconds = error.is('SERVER_BUSY') ? error.details.retryAfter : 1;
    return { status: 503, message: 'The server is busy. Try again in a moment.', headers: retryLater(seconds) };
  }
  return { status: isBrokenLink(error) ? 404 : 400, message };
}

const retryLater = (seconds: number): readonly string[] => ['Retry-After', String(Math.ceil(seconds))];

function tooOften(retryAfter: number): string {
  const minutes = Math.ceil(retryAfter / 60);
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `This was tried too often. Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`;
}

export const errorPage = (site: Site | null, { status, message, headers = [] }: Failure): Reply =>
  pageReply({
    status,
    title: status >= 500 ? 'Something went wrong' : 'That did not work',
    site,
    headers,
    content: html`<p role="alert" class="alert">${message}</p>`,
  });

/** Shown for a mistyped host name and on a newly installed server. */
const noOrganizationPage = (): Reply =>
  pageReply({
    status: 404,
    title: 'No organization',
    site: null,
    content: html`<p role="alert" class="alert">There is no organization at this address.</p>
<p>This is a Parley server: a team chat, which speaks the Zulip API. Each organization on it has an address of its own; ask
whoever invited you for yours.</p>
<p>If you run this server, <code>parley realm list</code> shows the addresses, and
<code>parley realm create '' 'My organization'</code> makes the first organization.</p>`,
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
export const alert = (failure: Failure | null): Html | null =>
  failure && html`<p role="alert" class="alert" id="problem">${failure.message}</p>`;
