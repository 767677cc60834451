import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRoutes, type RouteDependencies } from '@parley/http';
import { openApiOf } from '@parley/http/openapi';
import { apiPages } from './api-pages.js';
import { anchorOf, llmsText, type Page, SECTIONS, samplePage, titleOf, toSitePage, versionLinks } from './pages.js';

/** Folder of this package. */
const home = fileURLToPath(new URL('..', import.meta.url));
const docs = join(home, '../../docs');

/** Writes the Markdown of all pages to `dist/content`, with the menu and `versions` for the site's configuration. */
export function writeContent(versions: readonly string[]): void {
  const content = join(home, 'dist/content');
  rmSync(content, { recursive: true, force: true });
  const files = readdirSync(docs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(docs, join(parentPath, name)))
    .sort();
  const read = (path: string) => readFileSync(join(docs, path), 'utf8');
  const pages = files
    .filter((path) => path.endsWith('.md'))
    .map((path) => toSitePage({ path: path.slice(0, -'.md'.length), text: read(path) }));
  const samples = files
    .filter((path) => /^(?:deploy|examples)\/|\.schema\.json$/.test(path) && !/\.md$|\/index\.html$/.test(path))
    .map((path) => samplePage({ path, text: read(path) }));
  const api = apiPages(openApiOf(createRoutes({} as RouteDependencies)));
  const all = [...pages, ...api, ...samples];
  for (const { path, text } of all) {
    write(content, `${path}.md`, text);
    // Markdown source of each page, next to its HTML.
    write(content, `public/${path}.md`, text);
  }
  cpSync(join(home, 'src/index.md'), join(content, 'index.md'));
  // VitePress bundles the images of pages; those of the Markdown sources stay files.
  for (const folder of ['images', 'public/images']) {
    cpSync(join(docs, 'images'), join(content, folder), { recursive: true });
  }
  write(content, 'public/llms.txt', llmsText([...pages, ...api]));
  write(join(home, 'dist'), 'menu.json', JSON.stringify(menuOf(pages, api)));
  write(join(home, 'dist'), 'versions.json', JSON.stringify(versionLinks(versions)));
}

/** Corrects TypeDoc's links to a class that an interface extends: they have a number, but both share one heading. */
export function mendTypes(): void {
  const folder = join(home, 'dist/content/types');
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
    const mended = text.replace(/\(#([a-z]+)-1\)/g, (link, anchor: string) =>
      headings.filter((each) => each === anchor).length === 1 ? `(#${anchor})` : link,
    );
    write(folder, name, mended);
  }
}

const menuOf = (pages: readonly Page[], api: readonly Page[]) => {
  const itemOf = ({ path, text }: Page) => ({ text: titleOf(text), link: `/${path.replace(/(^|\/)index$/, '$1')}` });
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const listed = new Set(Object.values(SECTIONS).flat());
  const forgotten = pages.map(({ path }) => path).filter((path) => !listed.has(path) && !path.startsWith('adr/'));
  if (forgotten.length > 0) throw new Error(`No section of pages.ts has ${forgotten.join(', ')}.`);
  return [
    ...Object.entries(SECTIONS).map(([text, paths]) => ({
      text,
      collapsed: text !== 'Guides',
      items: paths.map((path) => itemOf(byPath.get(path)!)),
    })),
    { text: 'API', collapsed: true, items: api.map(itemOf) },
    {
      text: 'Types',
      collapsed: true,
      items: ['parley', 'client', 'chat', 'testing'].map((name) => ({ text: name, link: `/types/${name}` })),
    },
  ];
};

function write(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
