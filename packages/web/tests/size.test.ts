import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';

const APP = join(import.meta.dirname, '../dist/app');
const KB = 1000;

interface Entry {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const sizeOf = (files: Iterable<string>, extension: string): number =>
  [...files].reduce((sum, file) => sum + statSync(join(APP, `${file}${extension}`)).size, 0);

/** Files that the page loads before anything is drawn. */
function filesAtStart(kind: 'scripts' | 'styles'): ReadonlySet<string> {
  const manifest: Readonly<Record<string, Entry>> = JSON.parse(readFileSync(join(APP, 'manifest.json'), 'utf8'));
  const files = new Set<string>();
  const add = (name: string) => {
    const { file, imports = [], css = [] } = manifest[name]!;
    for (const each of kind === 'scripts' ? [file] : css) files.add(each);
    for (const each of imports) add(each);
  };
  add('index.html');
  return files;
}

test('loads at most 150 KB of scripts and 20 KB of styles before the first message', () => {
  expect(sizeOf(filesAtStart('scripts'), '.gz')).toBeLessThan(150 * KB);
  expect(sizeOf(filesAtStart('styles'), '.gz')).toBeLessThan(20 * KB);
});

test('the element loads at most 160 KB of scripts before its first message', () => {
  const loader = readFileSync(join(APP, 'web/element.js'), 'utf8');
  const scripts = new Set([...loader.matchAll(/"\.\/([\w-]+\.js)"/g)].map(([, name]) => `web/${name}`));
  expect(scripts.size).toBeGreaterThan(0);
  expect(sizeOf(scripts, '.gz')).toBeLessThan(160 * KB);
});

test('everything of the application and the element has at most 500 KB each', () => {
  const files = readdirSync(join(APP, 'web')).filter((name) => /\.(js|css)$/.test(name));
  expect(
    sizeOf(
      files.map((name) => `web/${name}`),
      '.br',
    ),
  ).toBeLessThan(2 * 500 * KB);
});
