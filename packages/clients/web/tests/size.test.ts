import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TEXT_LANGUAGES } from '@parley/domain/kernel';
import { expect, test } from '@playwright/test';

const APP = join(import.meta.dirname, '../dist/app');
const KB = 1000;

const sizeOf = (files: Iterable<string>, extension: string): number =>
  [...files].reduce((sum, file) => sum + statSync(join(APP, 'web', `${file}${extension}`)).size, 0);

const textOf = (file: string): string => readFileSync(join(APP, file), 'utf8');

/** File names that a built text contains in quotation marks. */
const namesIn = (text: string, extension: string): ReadonlySet<string> =>
  new Set([...text.matchAll(new RegExp(`"\\.?/?(?:web/)?([\\w-]+\\.${extension})"`, 'g'))].map(([, name]) => name!));

/** Files loaded by the page before the first render. */
const filesAtStart = (extension: string): ReadonlySet<string> => namesIn(textOf('index.html'), extension);

/** Names of all scripts and style sheets built for English readers. */
const built = readdirSync(join(APP, 'web')).filter(
  (name) =>
    /\.(js|css)$/.test(name) &&
    !TEXT_LANGUAGES.some((language) => language !== 'en' && name.startsWith(`${language}-`)),
);

const manifest = JSON.parse(textOf('manifest.json')) as Readonly<Record<string, { file: string }>>;
const inFolder = ({ file }: { file: string }): string => file.replace('web/', '');

/** Files of the application; the others belong to the element. */
const listed = new Set(Object.values(manifest).map(inFolder));

test('loads at most 150 KB of scripts, within 5 %, and 20 KB of styles before the first message', () => {
  expect(filesAtStart('js').size).toBeGreaterThan(0);
  expect(sizeOf(filesAtStart('js'), '.gz')).toBeLessThan(150 * 1.05 * KB);
  expect(sizeOf(filesAtStart('css'), '.gz')).toBeLessThan(20 * KB);
});

test('loads at most 160 KB of scripts of the element before its first message', () => {
  const scripts = namesIn(textOf('web/element.js'), 'js');
  expect(scripts.size).toBeGreaterThan(0);
  expect(sizeOf(scripts, '.gz')).toBeLessThan(160 * KB);
});

test('keeps the application in one language within 500 KB', () => {
  const files = built.filter((name) => listed.has(name));
  expect(files.length).toBeGreaterThan(50);
  expect(sizeOf(files, '.br')).toBeLessThan(500 * KB);
});

test('keeps the element in one language within 500 KB', () => {
  const files = built.filter((name) => !listed.has(name));
  expect(files.length).toBeGreaterThan(50);
  expect(sizeOf(files, '.br')).toBeLessThan(500 * KB);
});
