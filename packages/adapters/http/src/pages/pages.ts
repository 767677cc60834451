import { CheckSpectatorAccess } from '@parley/domain/channels';
import { ListLogInMethods } from '@parley/domain/log-in';
import { TurnOffEmails, UNSUBSCRIBABLE, type Unsubscribable } from '@parley/domain/push';
import type { HttpFeature } from '../declarations/feature.js';
import type { Route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { Reply } from '../wire/reply.js';
import { accountConnectionPages } from './account-connections.js';
import { accountPages } from './account-pages.js';
import { externalLogInPages } from './external-log-in.js';
import { html } from './html.js';
import { importedMessagePages } from './imported-messages.js';
import {
  errorPage,
  notFoundPage,
  type PageParts,
  pageReply,
  pageRoute,
  redirectTo,
  type Site,
  seeOther,
} from './layout.js';
import { connecting, isUserOf, logInPages, signUpHint } from './log-in-page.js';
import { pageScriptRoute } from './page-script.js';
import { secondFactorLogInPages } from './second-factor-log-in.js';
import { secondFactorPages, secondFactorRoutes } from './second-factor-settings.js';
import { sessionPages } from './sessions-page.js';
import { signUpPages } from './sign-up-pages.js';
import { framePage, webAppPage, webAssetRoutes } from './web-app.js';

/**
 * Start page of an organization and paths that redirect to it. With a web client, it is the application, or redirects
 * to the log-in page.
 */
export const homePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/', {
    dto: NoParameters,
    knowsCaller: true,
    useCase: CheckSpectatorAccess,
    handle: async ({ site, realm, caller, identity, useCase, resolve }) => {
      const { webAssets } = parts;
      if (webAssets?.page) {
        const user = identity && isUserOf(realm, identity) ? identity : null;
        if (!user && !(await useCase.execute(realm))) return seeOther(site, '/login/');
        const page = await webAssets.page();
        if (page !== null) return webAppPage(page, parts, site, user);
      }
      const { settings } = realm;
      const { methods } = await resolve(ListLogInMethods).execute(caller);
      return pageReply({
        title: site.name,
        site,
        content: html`${settings.description !== '' && html`<p>${settings.description}</p>`}
<p>${site.t('This is the address of a team chat: an organization on a Parley server, which speaks the Zulip API.')}</p>
<p><a class="button" href="${site.base}/login/">${site.t('Log in')}</a></p>
${signUpHint(site, realm, methods)}
${connecting(site)}`,
      });
    },
  }),
  // The page's script reads the query.
  pageRoute(parts, 'GET', '/frame', {
    dto: NoParameters,
    handle: async ({ request, site }) =>
      framePage(parts, site) ?? notFoundPage(request.header('accept-language'), `${site.base}/`),
  }),
  pageRoute(parts, 'GET', '/help/', { dto: NoParameters, handle: async ({ site }) => seeOther(site, '/') }),
  pageRoute(parts, 'GET', '/favicon.ico', { dto: NoParameters, handle: async ({ site }) => redirectTo(site.favicon) }),
];

class UnsubscribeDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) kind!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
}

const PATH = '/accounts/unsubscribe/:kind/:key/';

const isUnsubscribable = (kind: string): kind is Unsubscribable => UNSUBSCRIBABLE.includes(kind as Unsubscribable);

const broken = (site: Site): Reply => errorPage(site, { status: 404, message: 'This link is not valid.' });

/**
 * Unsubscribes from emails by link. Opening the link changes nothing, because mail programs prefetch links. The button
 * and the mail program's one-click request (RFC 8058) send the same POST request.
 */
const unsubscribePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', PATH, {
    dto: UnsubscribeDto,
    handle: async ({ site, dto: { kind } }) =>
      isUnsubscribable(kind)
        ? pageReply({
            title: site.t('Unsubscribe'),
            site,
            content: html`<p>${site.t('Do you want no more emails of this kind from {name}?', { name: site.name })}</p>
<form method="post"><p><button>${site.t('Unsubscribe')}</button></p></form>`,
          })
        : broken(site),
  }),
  pageRoute(parts, 'POST', PATH, {
    dto: UnsubscribeDto,
    useCase: TurnOffEmails,
    handle: async ({ site, realm, dto: { kind, key }, useCase }) => {
      if (!isUnsubscribable(kind)) return broken(site);
      await useCase.execute(realm.id, { kind, key });
      return pageReply({
        title: site.t('Unsubscribe'),
        site,
        content: html`<p>${site.t('You will get no more emails of this kind. You can turn them on again in your settings.')}</p>`,
      });
    },
  }),
];

/** Browser pages. */
export const PAGES = {
  tag: 'Server and log-in',
  routes: (parts) => [
    ...homePages(parts),
    ...importedMessagePages(parts),
    ...webAssetRoutes(parts),
    ...logInPages(parts),
    ...externalLogInPages(parts),
    ...accountConnectionPages(parts),
    ...secondFactorLogInPages(parts),
    ...secondFactorPages(parts),
    ...secondFactorRoutes,
    ...sessionPages(parts),
    pageScriptRoute,
    ...accountPages(parts),
    ...signUpPages(parts),
    ...unsubscribePages(parts),
  ],
} satisfies HttpFeature;
