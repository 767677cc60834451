import type { ServerInfo } from '../realms/realm.presenters.js';
import { unknownPath } from '../routing/errors.js';
import { NoParameters } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';
import { docsPageOf } from './docs-page.js';
import { openApiOf } from './openapi.js';

/** The page needs nothing but its own styles. */
const PAGE_POLICY = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
];

/** A description of the other routes, and in development a page of it. Nothing in either depends on who asks. */
export function openApiRoutes(
  described: readonly Route[],
  { serverInfo }: { readonly serverInfo: Pick<ServerInfo, 'isDevelopment'> },
): readonly Route[] {
  let json: string | undefined;
  let page: string | undefined;
  return [
    route('GET', '/openapi.json', {
      auth: 'anyone',
      dto: NoParameters,
      answer: 'bytes',
      handle: async () => {
        json ??= JSON.stringify(openApiOf(described));
        return { status: 200, body: json };
      },
    }),
    route('GET', '/api/docs', {
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      answer: 'bytes',
      handle: async () => {
        if (!serverInfo.isDevelopment) throw unknownPath();
        page ??= docsPageOf(openApiOf(described));
        return { status: 200, body: page, contentType: 'text/html; charset=utf-8', headers: PAGE_POLICY };
      },
    }),
  ];
}
