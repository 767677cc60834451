import { createHash } from 'node:crypto';
import type { Reply } from '../kernel/reply.js';
import { type Html, html } from './html.js';

/** The organization that a page belongs to. */
export interface Site {
  readonly name: string;
  /** Without a slash at the end: `https://example.com/chat`. */
  readonly url: string;
  /** What paths begin with: `/chat`, or nothing. */
  readonly base: string;
}

export interface Page {
  /** Default: 200. */
  readonly status?: number;
  /** The page's own, which is also its heading. */
  readonly title: string;
  /** Null: there is none at the address. */
  readonly site: Site | null;
  readonly content: Html;
  /** Name, value, name, value … */
  readonly headers?: readonly string[];
}

/** Written into the page as it is; the policy allows it by its digest. */
const STYLE = html`
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: 2rem 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
label, legend { display: block; font-weight: 600; }
fieldset { border: 1px solid; margin: 0; }
fieldset label { font-weight: 400; }
input, select { box-sizing: border-box; font: inherit; max-width: 100%; padding: 0.4rem; width: 24rem; }
input[type=checkbox] { width: auto; }
button { cursor: pointer; font: inherit; padding: 0.5rem 1.2rem; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid; }
.alert { border-left: 0.3rem solid #c0392b; padding: 0.5rem 1rem; }
.hint { margin: 0.2rem 0 0; }
footer { border-top: 1px solid; font-size: 0.9rem; margin-top: 3rem; }
`;

/** Nothing is loaded from anywhere, no script runs, and forms go to this server alone. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE.markup).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = [
  'Content-Security-Policy',
  CONTENT_SECURITY_POLICY,
  // Addresses of pages hold keys; forms need an Origin by which they are recognized as ours.
  'Referrer-Policy',
  'same-origin',
  'X-Robots-Tag',
  'noindex',
];

export function pageReply({ status = 200, title, site, content, headers = [] }: Page): Reply {
  const heading = site && title !== site.name ? `${title} – ${site.name}` : title;
  const { markup } = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${heading}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
${
  site &&
  html`<footer><p><a href="${site.base}/">${site.name}</a></p></footer>
`
}</body>
</html>
`;
  return {
    status,
    body: markup,
    contentType: 'text/html; charset=utf-8',
    cacheControl: 'no-store',
    headers: [...HEADERS, ...headers],
  };
}

/** To another page of the organization: what came with a form is not sent again when that is loaded anew. */
export const seeOther = ({ base }: Site, path: string): Reply => ({
  status: 303,
  body: '',
  contentType: 'text/html; charset=utf-8',
  cacheControl: 'no-store',
  headers: ['Location', base + path, ...HEADERS],
});
