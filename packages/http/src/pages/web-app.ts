import type { Identity } from '../kernel/authenticate.js';
import { TextParam } from '../kernel/params.js';
import { type Reply, unknownPath } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import type { WebAssets } from '../kernel/web-assets.js';
import { html } from './html.js';
import type { PageParts, Site } from './layout.js';

/** Folder of the files below the organization's address. */
const FOLDER = 'web';

/** Scripts and styles come from this server only, and markup only from the parser of messages. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob: https:",
  "media-src 'self' blob: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types parley-content parley-worker',
].join('; ');

/** Page of the application for a user who is logged in; null without a web client. */
export async function webAppPage(
  assets: WebAssets | null,
  site: Site,
  { isHostLogin, userId }: Identity,
): Promise<Reply | null> {
  const page = await assets?.page();
  if (page === undefined || page === null) return null;
  const head = html`<title>${site.name}</title>
<link rel="icon" href="${site.icon}">
<meta name="parley-credentials" content="${isHostLogin ? 'host' : 'session'}">
<meta name="parley-user" content="${String(userId)}">`;
  return {
    status: 200,
    body: page
      .replace('<title>Parley</title>', () => head.markup)
      .replaceAll('="./', () => `="${html`${site.base}`.markup}/`),
    contentType: 'text/html; charset=utf-8',
    contentLanguage: site.language,
    cacheControl: 'no-store',
    headers: [
      'Content-Security-Policy',
      CONTENT_SECURITY_POLICY,
      'Referrer-Policy',
      'same-origin',
      'X-Robots-Tag',
      'noindex',
    ],
  };
}

const MAX_NAME_LENGTH = 100;

class AssetDto {
  @TextParam({ max: MAX_NAME_LENGTH }) file!: string;
}

/** Script that hosts include in their pages, and the one that receives notifications. Browsers ask whether they changed. */
const CHANGING = ['element.js', 'service-worker.js'];

/** Files of the application and the element, the same for everybody. Others never change under their name. */
export const webAssetRoutes = ({ webAssets }: Pick<PageParts, 'webAssets'>): readonly Route[] => [
  route('GET', `/${FOLDER}/:file`, {
    auth: 'anyone',
    limit: 'none',
    atRoot: true,
    dto: AssetDto,
    response: 'bytes',
    handle: async ({ request, dto: { file } }) => {
      const asset = await webAssets?.open(file, request.header('accept-encoding') ?? '');
      if (!asset) throw unknownPath();
      const { contentType, contentEncoding, body } = asset;
      return {
        status: 200,
        body,
        contentType,
        cacheControl: CHANGING.includes(file) ? 'no-cache' : 'public, max-age=31536000, immutable',
        headers: [
          'Vary',
          'Accept-Encoding',
          ...(contentEncoding === undefined ? [] : ['Content-Encoding', contentEncoding]),
        ],
      };
    },
  }),
];
