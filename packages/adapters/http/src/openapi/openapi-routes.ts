import { type Route, route } from '../declarations/route.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { NoParameters } from '../params/params.js';

/** Routes of the OpenAPI document and its HTML page, which are the same for all callers. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  const scheduler = new YieldingScheduler();
  // Loaded on the first request, since most servers never serve the documentation.
  const description = once(async () => scheduler.runSteps((await import('./openapi.js')).describeApi(routes)));
  const json = once(async () => {
    const { forGenerators } = await import('./openapi.js');
    return JSON.stringify(forGenerators(await description()));
  });
  const page = once(async () =>
    scheduler.runSteps((await import('./docs-page.js')).writeDocsPage(await description())),
  );
  return [
    route('GET', '/openapi.json', {
      summary: 'Get this document',
      extension: 'extensions §2',
      tag: 'Server and log-in',
      withoutPage: 'development',
      auth: 'anyone',
      dto: NoParameters,
      response: 'bytes',
      contentType: 'application/json',
      handle: async () => ({ status: 200, body: await json() }),
    }),
    route('GET', '/api/', {
      summary: 'Get this document as a page',
      extension: 'extensions §2',
      tag: 'Server and log-in',
      auth: 'anyone',
      atRoot: true,
      dto: NoParameters,
      response: 'bytes',
      contentType: 'text/html',
      handle: async ({ request }) => {
        // The page's link is relative, because the page does not know the server's path.
        if (!request.path.endsWith('/')) return { status: 301, body: '', headers: ['Location', 'api/'] };
        return { status: 200, body: await page(), contentType: 'text/html; charset=utf-8', headers: PAGE_POLICY };
      },
    }),
  ];
}

/** Memoizes an async function; concurrent callers share the first call. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Allows only the page's inline styles. */
const PAGE_POLICY = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
];
