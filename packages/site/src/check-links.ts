import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const HREF = /<a\b[^>]*\bhref="([^"]*)"/g;
const ID = /\bid="([^"]*)"/g;

/** Links of the built pages in `folder` to missing files or anchors, as `page: link`. Links to other sites are not checked. */
export function brokenLinks(folder: string, base: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = new Set(names);
  const pages = new Map(
    names.filter((name) => name.endsWith('.html')).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const anchors = new Map(
    [...pages].map(([name, html]) => [name, new Set([...html.matchAll(ID)].map(([, id]) => unescaped(id!)))]),
  );
  return [...pages].flatMap(([page, html]) => {
    const links = new Set([...html.matchAll(HREF)].map(([, link]) => unescaped(link!)));
    return [...links].filter((link) => !exists(page, link)).map((link) => `${page}: ${link}`);
  });

  function exists(page: string, link: string): boolean {
    if (/^\w+:/.test(link)) return true;
    const [path = '', anchor = ''] = link.split('#').map(decodeURIComponent);
    const absolute = path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(page), path);
    const target = path === '' ? page : /(^|\/)$/.test(absolute) ? `${absolute}index.html` : absolute;
    return files.has(target) && (anchor === '' || anchors.get(target)?.has(anchor) === true);
  }
}

const unescaped = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
