import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { lazily } from '../characters.js';

/** Parts of a URL, split as the reference's library does. */
export interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

const ALLOWED_SCHEMES = new Set(
  `http https ftp file bitcoin geo im irc ircs magnet mailto matrix mms news nntp openpgp4fpr sip sms smsto ssh tel urn
   webcal wtai xmpp`.split(/\s+/),
);

/** Schemes whose URLs have `//` even with an empty host. */
const SCHEMES_WITH_HOST = new Set(['http', 'https', 'ftp', 'file', 'mms', 'nntp']);
/** Schemes with path parameters; an empty list of parameters is dropped. */
const SCHEMES_WITH_PARAMETERS = new Set(['', 'http', 'https', 'ftp', 'mms', 'sip', 'tel']);

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut
const LEADING_CONTROLS = /^[\u0000-\u0020]+/;

/** Returns null if the text cannot be a URL. */
export function splitUrl(url: string): UrlParts | null {
  let rest = url.replace(LEADING_CONTROLS, '').replace(/[\t\r\n]/g, '');
  let scheme = '';
  const match = SCHEME.exec(rest);
  if (match) {
    scheme = match[1]!.toLowerCase();
    rest = rest.slice(match[0].length);
  }
  let host = '';
  if (rest.startsWith('//')) {
    const end = rest.slice(2).search(/[/?#]/);
    host = end === -1 ? rest.slice(2) : rest.slice(2, end + 2);
    rest = rest.slice(host.length + 2);
    if (!isPossibleHost(host)) return null;
  }
  const [withQuery, fragment] = cut(rest, '#');
  const [path, query] = cut(withQuery, '?');
  return { scheme, host, path, query, fragment };
}

function isPossibleHost(host: string): boolean {
  if (host.includes('[') !== host.includes(']')) return false;
  if (host.includes('[')) {
    const inside = host.slice(host.indexOf('[') + 1).split(']', 1)[0]!;
    if (!isIPv6(inside) && !/^v[a-fA-F0-9]+\..+$/.test(inside)) return false;
  }
  // Rejects characters that become delimiters under Unicode normalization and would change the host.
  const letters = host.replace(/[@:#?]/g, '');
  const folded = letters.normalize('NFKC');
  return folded === letters || !/[/?#@:]/.test(folded);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut
const SCHEME_OF_TEXT = /^[\s\u0000-\u0020]*([a-z][a-z0-9+.\-\t\r\n]*):(?!\/\/)/i;

/** Checks only the start of the text, to avoid a scan of invalid URLs; `completeUrl` checks everything. */
export function hasForbiddenScheme(text: string): boolean {
  const scheme = SCHEME_OF_TEXT.exec(text)?.[1];
  return scheme !== undefined && !ALLOWED_SCHEMES.has(scheme.replace(/[\t\r\n]/g, '').toLowerCase());
}

function joinUrl({ scheme, host, path, query, fragment }: UrlParts): string {
  let url = path;
  if (host !== '' || (SCHEMES_WITH_HOST.has(scheme) && !url.startsWith('//'))) {
    if (url !== '' && !url.startsWith('/')) url = `/${url}`;
    url = `//${host}${url}`;
  }
  if (scheme !== '') url = `${scheme}:${url}`;
  if (query !== '') url += `?${query}`;
  if (fragment !== '') url += `#${fragment}`;
  return url;
}

/** Splits the path from the parameters of its last segment. */
function cutParameters({ scheme, path }: UrlParts): [path: string, parameters: string] {
  const at = SCHEMES_WITH_PARAMETERS.has(scheme) ? path.indexOf(';', path.lastIndexOf('/') + 1) : -1;
  return at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

/**
 * Completes a link URL: `example.com` gets a scheme, `a@b.example` becomes a mailto URL. Returns an empty text for an
 * invalid URL and null for a forbidden scheme.
 */
export function completeUrl(url: string): string | null {
  const split = splitUrl(url.replaceAll(' ', '%20'));
  if (split === null) return '';
  const [path, parameters] = cutParameters(split);
  const parts = { ...split, path: parameters === '' ? path : `${path};${parameters}` };
  const { scheme, host, query, fragment } = parts;
  if (scheme !== '') return ALLOWED_SCHEMES.has(scheme) ? joinUrl(parts) : null;
  if (host === '' && path.includes('@')) return joinUrl({ ...parts, scheme: 'mailto' });
  // Two slashes would denote a host.
  if (host === '' && path.startsWith('/')) return joinUrl({ ...parts, path: parts.path.replace(/^\/+/, '/') });
  if (host === '' && parts.path === '' && query === '' && fragment !== '') return joinUrl(parts);
  return completeUrl(`http://${url}`);
}

/** Makes links into the realm's own client or uploads relative. */
export function relativeToRealm(url: string, realmUrl: string): string {
  if (!url.startsWith(`${realmUrl}/`)) return url;
  const rest = url.slice(realmUrl.length + 1);
  return rest.startsWith('#') || rest.startsWith('user_uploads/') ? rest : url;
}

/** Returns the path after `/user_uploads/` in a link to an upload of this realm. */
export function uploadPath(url: string, realmUrl: string): string | null {
  if (!url.includes('user_uploads/')) return null;
  const parts = splitUrl(url);
  if (!parts || (parts.host !== '' && parts.host !== splitUrl(realmUrl)?.host)) return null;
  const path = parts.path.startsWith('/') ? parts.path : `/${parts.path}`;
  return path.startsWith('/user_uploads/') ? path.slice('/user_uploads/'.length) : null;
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Excluded, because these are usually file extensions. */
const FILE_EXTENSIONS = ['java', 'md', 'mov', 'py', 'zip'];

const all = lazily((require) => {
  const domains = new Set((require('tlds') as string[]).map((domain) => domainToASCII(domain)));
  for (const extension of FILE_EXTENSIONS) domains.delete(extension);
  return domains;
});

/** Expects lower case, and international domains in ASCII form. */
export const isTopLevelDomain = (label: string) => all().has(label);
