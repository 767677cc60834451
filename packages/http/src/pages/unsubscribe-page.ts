import { TurnOffEmails, UNSUBSCRIBABLE, type Unsubscribable } from '@parley/domain/push';
import { MAX_TEXT_LENGTH } from '../kernel/param-types.js';
import { TextParam } from '../kernel/params.js';
import type { Reply } from '../kernel/reply.js';
import type { Route } from '../kernel/route.js';
import { html } from './html.js';
import { errorPage, type PageParts, pageReply, pageRoute, type Site } from './layout.js';

class UnsubscribeDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) kind!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) key!: string;
}

const PATH = '/accounts/unsubscribe/:kind/:key/';

const isKnown = (kind: string): kind is Unsubscribable => UNSUBSCRIBABLE.includes(kind as Unsubscribable);

const broken = (site: Site): Reply => errorPage(site, { status: 404, message: 'This link is not valid.' });

/**
 * Turns emails off by the link in them. Opening the link changes nothing, since mail programs open links in advance; the
 * button and the one-click request of mail programs (RFC 8058) send the same POST request.
 */
export const unsubscribePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', PATH, {
    dto: UnsubscribeDto,
    handle: async ({ site, dto: { kind } }) =>
      isKnown(kind)
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
      if (!isKnown(kind)) return broken(site);
      await useCase.execute(realm.id, { kind, key });
      return pageReply({
        title: site.t('Unsubscribe'),
        site,
        content: html`<p>${site.t('You will get no more emails of this kind. You can turn them on again in your settings.')}</p>`,
      });
    },
  }),
];
