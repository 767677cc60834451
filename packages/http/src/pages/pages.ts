import type { HttpFeature } from '../kernel/feature.js';
import { NoParameters } from '../kernel/params.js';
import type { Route } from '../kernel/route.js';
import { accountPages, signUpPages } from './account-pages.js';
import { externalLogInPages } from './external-log-in.js';
import { html } from './html.js';
import { type PageParts, pageReply, pageRoute, redirectTo, seeOther } from './layout.js';
import { connecting, isUserOf, logInPages } from './log-in-page.js';
import { unsubscribePages } from './unsubscribe-page.js';
import { webAppPage, webAssetRoutes } from './web-app.js';

/**
 * Start page of an organization, and paths that lead to it. With a web client it is the application, or leads to the
 * log-in page.
 */
export const homePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/', {
    dto: NoParameters,
    knowsCaller: true,
    handle: async ({ site, realm, identity }) => {
      if (parts.webAssets) {
        if (!identity || !isUserOf(realm, identity)) return seeOther(site, '/login/');
        const app = await webAppPage(parts.webAssets, site, identity);
        if (app) return app;
      }
      const { settings } = realm;
      return pageReply({
        title: site.name,
        site,
        content: html`${settings.description !== '' && html`<p>${settings.description}</p>`}
<p>${site.t('This is the address of a team chat: an organization on a Parley server, which speaks the Zulip API.')}</p>
<p><a class="button" href="${site.base}/login/">${site.t('Log in')}</a></p>
<p>${
          settings.inviteRequired
            ? site.t('An invitation from a member is required to join.')
            : site.t('No account yet? {link}', {
                link: html`<a href="${site.base}/register/">${site.t('Sign up')}</a>`,
              })
        }</p>
${connecting(site)}`,
      });
    },
  }),
  pageRoute(parts, 'GET', '/help/', { dto: NoParameters, handle: async ({ site }) => seeOther(site, '/') }),
  pageRoute(parts, 'GET', '/favicon.ico', { dto: NoParameters, handle: async ({ site }) => redirectTo(site.icon) }),
];

/** Browser pages. */
export const PAGES = {
  routes: (parts) => [
    ...homePages(parts),
    ...webAssetRoutes(parts),
    ...logInPages(parts),
    ...externalLogInPages(parts),
    ...accountPages(parts),
    ...signUpPages(parts),
    ...unsubscribePages(parts),
  ],
} satisfies HttpFeature;
