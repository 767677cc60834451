import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { searchWeight } from './pages.js';

/** Sections that a search must find first. */
const FIRST: Readonly<Record<string, string>> = {
  retention: 'operating.html#retention',
  docker: 'operating.html#docker',
  'lost password': 'operating.html#lost-password',
  'delete a user': 'operating.html#delete-a-user',
  'dark theme': 'embedding-ui.html#dark-theme',
  pm2: 'operating.html#pm2',
  backup: 'guides/company.html#5-backup-and-restore-drill',
  saml: 'log-in.html#saml-20',
};

/** Returns failed searches of the site built in `folder`, each as `query: section` with its wrong first result. */
export async function wrongResults(folder: string, base: string): Promise<readonly string[]> {
  const chunks = join(folder, 'assets/chunks');
  const name = readdirSync(chunks).find((each) => each.startsWith('@localSearchIndexroot'))!;
  const { default: stored } = (await import(pathToFileURL(join(chunks, name)).href)) as { default: string };
  const index = MiniSearch.loadJSON(stored, {
    fields: ['title', 'titles', 'text'],
    // Same options as VitePress in the browser.
    searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, boostDocument: searchWeight },
  });
  return Object.entries(FIRST).flatMap(([query, section]) => {
    const found = index.search(query)[0]?.id as string | undefined;
    return found === `${base}${section}` ? [] : [`${query}: ${found}`];
  });
}
