import { FindImportedMessage } from '@parley/transfer/imports';
import type { Route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { type PageParts, pageRoute, seeOther } from './layout.js';
import { isUserOf } from './log-in-page.js';

const MAX_SOURCE_LENGTH = 100;
/** Clients accept response headers of 8 to 16 KB in total. */
const MAX_QUERY_LENGTH = 4000;

class FormerAddressDto {
  @TextParam({ max: MAX_SOURCE_LENGTH }) source!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) path!: string;
}

/** Redirects addresses of messages in another system, such as `/import/slack/C0123ABCD/p1700000000000100`. */
export const importedMessagePages = (parts: PageParts): readonly Route[] => [
  pageRoute(parts, 'GET', '/import/:source/*path', {
    dto: FormerAddressDto,
    knowsCaller: true,
    useCase: FindImportedMessage,
    handle: async ({ site, realm, caller, identity, dto, useCase }) => {
      const { source, path } = dto;
      if (!identity || !isUserOf(realm, identity)) {
        const next = [site.base, 'import', ...[source, ...path.split('/')].map(encodeURIComponent)].join('/');
        const query = String(new URLSearchParams({ next }));
        return seeOther(site, query.length > MAX_QUERY_LENGTH ? '/login/' : `/login/?${query}`);
      }
      const { userId } = identity;
      return seeOther(site, await useCase.execute({ realmId: realm.id, userId, clientName: caller.clientName }, dto));
    },
  }),
];
