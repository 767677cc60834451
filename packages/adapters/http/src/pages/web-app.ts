import { type ReadablePicture, ReadPicture } from '@parley/domain/files';
import { DomainError, directionOf } from '@parley/domain/kernel';
import type { Realm } from '@parley/domain/realms';
import { type Route, route } from '../declarations/route.js';
import { servePicture } from '../files/pictures.js';
import { TextParam } from '../params/params.js';
import type { Identity } from '../security/authenticate.js';
import { type Reply, unknownPath } from '../wire/reply.js';
import { html } from './html.js';
import type { PageParts, Site } from './layout.js';

/** Folder of web client files below the organization's address. */
const FOLDER = 'web';

const MANIFEST = 'manifest.webmanifest';

const FRAME_SCRIPT = 'frame.js';

const SERVICE_WORKER = 'service-worker.js';

/** Page background, which phones show around the page. */
const COLORS = { light: '#ffffff', dark: '#1b1d22' };

type PageHeaderParts = Pick<PageParts, 'frameAncestors' | 'serverInfo'>;

/** Allows scripts and styles only from this server, and requests to it and a configured GIF provider. */
const contentSecurityPolicy = ({ frameAncestors, serverInfo }: PageHeaderParts): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob: https:",
    "media-src 'self' blob: https:",
    "font-src 'self'",
    `connect-src 'self'${serverInfo.giphyApiKey === '' ? '' : ' https://api.giphy.com'}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "require-trusted-types-for 'script'",
    'trusted-types parley-content parley-worker',
  ].join('; ');

/** Application page for a user, or for a visitor without an account (null). `page`: HTML of the application. */
export function webAppPage(page: string, { serverInfo }: PageParts, site: Site, identity: Identity | null): Reply {
  const head = html`<title>${site.name}</title>
<link rel="icon" href="${site.favicon}">
<link rel="manifest" href="${site.base}/${FOLDER}/${MANIFEST}">
<link rel="apple-touch-icon" href="${site.base}/${FOLDER}/icon-180.png">
<meta name="theme-color" content="${COLORS.light}" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="${COLORS.dark}" media="(prefers-color-scheme: dark)">
<meta name="parley-credentials" content="${credentialsOf(identity)}">
<meta name="parley-user" content="${String(identity?.userId ?? 0)}">${
    serverInfo.isQuiet &&
    html`
<meta name="parley-quiet" content="true">`
  }`;
  return {
    status: 200,
    body: page
      .replace('<title>Parley</title>', () => head.markup)
      .replaceAll('="./', () => `="${html`${site.base}`.markup}/`),
    contentType: 'text/html; charset=utf-8',
    contentLanguage: site.language,
    cacheControl: 'no-store',
    headers: pageHeaders({ serverInfo, frameAncestors: [] }),
  };
}

const pageHeaders = (parts: PageHeaderParts): readonly string[] => [
  'Content-Security-Policy',
  contentSecurityPolicy(parts),
  'Referrer-Policy',
  'same-origin',
  'X-Robots-Tag',
  'noindex',
];

/**
 * Embeddable chat page for other sites; the query contains the element's attributes. It needs no cookie, because the
 * embedding page passes a token to its script. Null without a web client, or if no page may frame it.
 */
export function framePage({ webAssets, frameAncestors, serverInfo }: PageParts, site: Site): Reply | null {
  if (!webAssets || frameAncestors.length === 0) return null;
  const { markup } = html`<!DOCTYPE html>
<html lang="${site.language}" dir="${directionOf(site.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="parley-frame-ancestors" content="${frameAncestors.join(' ')}">
<title>${site.name}</title>
<script type="module" src="${site.base}/${FOLDER}/${FRAME_SCRIPT}"></script>
</head>
<body></body>
</html>
`;
  return {
    status: 200,
    body: markup,
    contentType: 'text/html; charset=utf-8',
    contentLanguage: site.language,
    cacheControl: 'no-store',
    isFramed: true,
    headers: pageHeaders({ frameAncestors, serverInfo }),
  };
}

function credentialsOf(identity: Identity | null): string {
  if (!identity) return 'visitor';
  return identity.isHostLogin ? 'host' : 'session';
}

const MAX_NAME_LENGTH = 100;

class AssetDto {
  @TextParam({ max: MAX_NAME_LENGTH }) file!: string;
}

/** Scripts included by other sites, the service worker, and Parley's logo. Browsers revalidate them. */
const CHANGING = /^(element\.js|frame\.js|service-worker\.js|logo\.svg|icon-\w+\.png)$/;

/** Home screen icon of Apple devices. */
const TOUCH_ICON = 'icon-180.png';
/** Organization's uploaded icon, without and with the margin for phones that crop it to a circle. */
const OWN_ICON = 'icon-own.png';
const OWN_MASKABLE_ICON = 'icon-own.svg';

/** Web app manifest, which makes the organization installable. */
function manifestReply({ name, settings, images }: Realm, base: string): Reply {
  const icon = (src: string, sizes: string, purpose: string) => {
    return { src, sizes, type: src.endsWith('.svg') ? 'image/svg+xml' : 'image/png', purpose };
  };
  return {
    status: 200,
    body: JSON.stringify({
      id: `${base}/`,
      start_url: `${base}/`,
      scope: `${base}/`,
      name,
      short_name: name,
      ...(settings.description !== '' && { description: settings.description }),
      display: 'standalone',
      background_color: COLORS.light,
      theme_color: COLORS.light,
      // The service worker receives texts and files shared by other applications.
      share_target: {
        action: `${base}/`,
        method: 'POST',
        enctype: 'multipart/form-data',
        params: { title: 'title', text: 'text', url: 'url', files: [{ name: 'files', accept: ['*/*'] }] },
      },
      icons: images.icon.isUploaded
        ? [icon(OWN_ICON, '192x192 512x512', 'any'), icon(OWN_MASKABLE_ICON, 'any', 'maskable')]
        : [
            icon('icon-192.png', '192x192', 'any'),
            icon('icon-512.png', '512x512', 'any'),
            icon('icon-maskable.png', '512x512', 'maskable'),
          ],
    }),
    contentType: 'application/manifest+json',
    cacheControl: 'no-cache',
  };
}

/** Names of files that differ between organizations. */
const OF_ORGANIZATION = /^(manifest\.webmanifest|icon-\w+\.(png|svg))$/;

const ICON_CACHE = 'public, max-age=3600';

/** Organization's icon for the installed application; null for other files and without an uploaded icon. */
async function appIcon(realm: Realm, file: string, pictures: ReadPicture): Promise<Reply | null> {
  if (![TOUCH_ICON, OWN_ICON, OWN_MASKABLE_ICON].includes(file)) return null;
  const own = await ownIcon(realm, pictures);
  if (!own) return null;
  const { body, ...reply } = servePicture(own);
  if (file !== OWN_MASKABLE_ICON) return { ...reply, body, cacheControl: ICON_CACHE };
  const chunks: Uint8Array[] = [];
  for await (const chunk of own.read()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return {
    ...reply,
    body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" fill="#fff"/>\
<image x="20" y="20" width="60" height="60" href="data:image/${own.format};base64,${bytes.toString('base64')}"/></svg>`,
    contentType: 'image/svg+xml',
    cacheControl: ICON_CACHE,
  };
}

/** Uploaded icon in its largest size; null if the organization has none. */
async function ownIcon({ id, images }: Realm, pictures: ReadPicture): Promise<ReadablePicture | null> {
  if (!images.icon.isUploaded) return null;
  // Older versions stored only one size.
  for (const name of ['icon/large', 'icon'] as const) {
    try {
      return await pictures.execute({ realmId: id }, { name });
    } catch (error) {
      if (!(error instanceof DomainError && error.is('UNKNOWN_PICTURE'))) throw error;
    }
  }
  return null;
}

/** Files of the application and the element, identical for all users; files with a digest never change. */
export const webAssetRoutes = ({
  webAssets,
  publicRealms,
  realmUrls,
}: Pick<PageParts, 'webAssets' | 'publicRealms' | 'realmUrls'>): readonly Route[] => [
  route('GET', `/${FOLDER}/:file`, {
    summary: 'Get a file of the web client',
    extension: 'extensions §1',
    tag: 'Files',
    auth: 'anyone',
    limit: 'none',
    atRoot: true,
    isNeverShed: true,
    dto: AssetDto,
    useCase: ReadPicture,
    response: 'bytes',
    handle: async ({ request, caller, dto: { file }, useCase }) => {
      if (webAssets && caller.realmId !== null && OF_ORGANIZATION.test(file)) {
        const realm = await publicRealms.load(caller.realmId);
        const base = new URL(realmUrls.urlOf(realm)).pathname.replace(/\/$/, '');
        const reply = file === MANIFEST ? manifestReply(realm, base) : await appIcon(realm, file, useCase);
        if (reply) return reply;
      }
      const asset = await webAssets?.open(file, request.header('accept-encoding') ?? '');
      if (!asset) throw unknownPath();
      const { contentType, contentEncoding, body } = asset;
      return {
        status: 200,
        body,
        contentType,
        cacheControl: CHANGING.test(file) ? 'no-cache' : 'public, max-age=31536000, immutable',
        headers: [
          'Vary',
          'Accept-Encoding',
          // The worker also serves the page, which is outside of its folder.
          ...(file === SERVICE_WORKER ? ['Service-Worker-Allowed', '..'] : []),
          ...(contentEncoding === undefined ? [] : ['Content-Encoding', contentEncoding]),
        ],
      };
    },
  }),
];
