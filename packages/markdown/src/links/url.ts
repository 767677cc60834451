import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { lazily } from '../characters.js';

/** A URL in its parts, cut as the reference's library cuts them. */
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

/** Schemes whose URLs have `//` even before an empty host. */
const SCHEMES_WITH_HOST = new Set(['http', 'https', 'ftp', 'file', 'mms', 'nntp']);
/** Schemes whose path may end in parameters, an empty list of which is dropped. */
const SCHEMES_WITH_PARAMETERS = new Set(['', 'http', 'https', 'ftp', 'mms', 'sip', 'tel']);

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut
const LEADING_CONTROLS = /^[\u0000-\u0020]+/;

/** Null when the text cannot be a URL at all. */
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
  // Letters that turn into delimiters once compared as equivalent would make another host of it.
  const letters = host.replace(/[@:#?]/g, '');
  const folded = letters.normalize('NFKC');
  return folded === letters || !/[/?#@:]/.test(folded);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is cut
const SCHEME_OF_TEXT = /^[\s\u0000-\u0020]*([a-z][a-z0-9+.\-\t\r\n]*):(?!\/\/)/i;

/** What can be told from the beginning alone, without going over the rest of what may be no URL: `completeUrl` tells all. */
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

/** The path up to the parameters of its last part, and those. */
function cutParameters({ scheme, path }: UrlParts): [path: string, parameters: string] {
  const at = SCHEMES_WITH_PARAMETERS.has(scheme) ? path.indexOf(';', path.lastIndexOf('/') + 1) : -1;
  return at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

/**
 * The address a link leads to, made complete: `example.com` gets a scheme, `a@b.example` becomes a mail address. Empty for
 * what is no URL; null when its scheme is not among those allowed, and there must be no link.
 */
export function completeUrl(url: string): string | null {
  const split = splitUrl(url.replaceAll(' ', '%20'));
  if (split === null) return '';
  const [path, parameters] = cutParameters(split);
  const parts = { ...split, path: parameters === '' ? path : `${path};${parameters}` };
  const { scheme, host, query, fragment } = parts;
  if (scheme !== '') return ALLOWED_SCHEMES.has(scheme) ? joinUrl(parts) : null;
  if (host === '' && path.includes('@')) return joinUrl({ ...parts, scheme: 'mailto' });
  // Two slashes would name a host.
  if (host === '' && path.startsWith('/')) return joinUrl({ ...parts, path: parts.path.replace(/^\/+/, '/') });
  if (host === '' && parts.path === '' && query === '' && fragment !== '') return joinUrl(parts);
  return completeUrl(`http://${url}`);
}

/** A link into this realm's own client or uploads loses the realm's address. */
export function relativeToRealm(url: string, realmUrl: string): string {
  if (!url.startsWith(`${realmUrl}/`)) return url;
  const rest = url.slice(realmUrl.length + 1);
  return rest.startsWith('#') || rest.startsWith('user_uploads/') ? rest : url;
}

/** What follows `/user_uploads/` in a link to an upload of this realm. */
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

/** More often the end of a file's name. */
const FILE_EXTENSIONS = ['java', 'md', 'mov', 'py', 'zip'];

const all = lazily((require) => {
  const domains = new Set((require('tlds') as string[]).map((domain) => domainToASCII(domain)));
  for (const extension of FILE_EXTENSIONS) domains.delete(extension);
  return domains;
});

/** In lower case, and international ones in their ASCII form. */
export const isTopLevelDomain = (label: string) => all().has(label);
