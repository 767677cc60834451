import { unknownPath } from '../kernel/errors.js';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import type { ServerInfo } from '../realms/server-info.js';
import { writeDocsPage } from './docs-page.js';
import { describeApi } from './openapi.js';

/** The page needs nothing but its own styles. */
const PAGE_POLICY = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
];

/** A description of the other routes, and in development a page of it. Nothing in either depends on who asks. */
export function openApiRoutes(
  routes: readonly Route[],
  { serverInfo }: { readonly serverInfo: Pick<ServerInfo, 'isDevelopment'> },
): readonly Route[] {
  const turns = new Turns();
  const description = once(() => turns.runSteps(describeApi(routes)));
  const json = once(async () => JSON.stringify(await description()));
  const page = once(async () => turns.runSteps(writeDocsPage(await description())));
  return [
    route('GET', '/openapi.json', {
      auth: 'anyone',
      dto: NoParameters,
      answer: 'bytes',
      handle: async () => ({ status: 200, body: await json() }),
    }),
    route('GET', '/api/docs', {
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      answer: 'bytes',
      handle: async () => {
        if (!serverInfo.isDevelopment) throw unknownPath();
        return { status: 200, body: await page(), contentType: 'text/html; charset=utf-8', headers: PAGE_POLICY };
      },
    }),
  ];
}

/** Made when first asked for, whoever asks meanwhile. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
