import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { labelCells } from '../dist/label-cells.js';
import { anchorOf, searchWeight } from '../dist/pages.js';

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const { version } = read('../package.json');

export default defineConfig({
  title: 'Parley',
  description: 'An embeddable team-chat engine that speaks the Zulip REST API',
  srcDir: 'dist/content',
  srcExclude: ['public/**'],
  outDir: 'dist/site',
  cacheDir: 'dist/cache',
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    html: false,
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    config: labelCells,
  },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/embedding' },
      { text: 'API', link: '/api/' },
      { text: version, items: [{ text: 'Changelog', link: '/CHANGELOG' }, ...read('../dist/versions.json')] },
    ],
    sidebar: read('../dist/menu.json'),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { boostDocument: searchWeight } } },
    },
  },
});
