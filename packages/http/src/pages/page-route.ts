import type { Injectable, Wired } from '@parley/domain/composition';
import { DomainError, type ErrorCode, type RealmUrls } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import type { PublicRealms } from '../events/public-realms.js';
import type { Dto } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import { type Context, type Method, type Route, route } from '../kernel/route.js';
import { type Html, html } from './html.js';
import { pageReply, type Site } from './layout.js';
import { isFromOwnPage } from './own-page.js';

/** What pages are made with. */
export interface PageParts {
  readonly realmUrls: RealmUrls;
  readonly publicRealms: PublicRealms;
}

/** Somebody looks at a page of an organization, or sends its form. */
export interface Visit<D, U> extends Context<'anyone', D, U> {
  readonly realm: Realm;
  readonly site: Site;
}

export interface PageSpec<D extends object, C extends Injectable> {
  readonly dto: Dto<D>;
  readonly useCase?: C & Wired<C>;
  /** Costs so much that an overloaded server refuses it. */
  readonly isExpensive?: boolean;
  /** What the form refuses, it shows itself; what is thrown becomes a page that says so. */
  readonly handle: (visit: Visit<D, InstanceType<C>>) => Promise<Reply>;
}

/** A page for browsers, at the root. Whatever goes wrong is shown as a page as well. */
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

/** What a page says of something that went wrong. */
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

/** What a link that leads nowhere is refused with. */
const BROKEN_LINKS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_INVITATION_KEY',
  'UNKNOWN_INVITATION',
  'INVITATION_EXPIRED',
  'UNKNOWN_CONFIRMATION',
  'CONFIRMATION_EXPIRED',
]);

export const isBrokenLink = (error: unknown): boolean => error instanceof DomainError && BROKEN_LINKS.has(error.code);

/** How a refusal is put to somebody who looks at a page. */
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

/** What a mistyped name shows, and a server that was started just now. */
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

/** Sends a form: what is refused is shown in the form itself, but for what says that the page leads nowhere. */
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

/** Above a form. */
export const alert = (failure: Failure | null): Html | null =>
  failure && html`<p role="alert" class="alert" id="problem">${failure.message}</p>`;
