import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { NoticeTexts } from '@parley/domain/access';
import type { TextLanguage } from '@parley/domain/kernel';
import PO from 'pofile';

const require = createRequire(import.meta.url);

/** Translations by English text. */
type Catalogue = ReadonlyMap<string, string>;

const cache = new Map<string, Catalogue>();

/** Returns the translations of a language. The file is read at once, since pending reads would decide an order. */
export function catalogueOf(folder: 'pages' | 'notices', language: TextLanguage): Catalogue {
  if (language === 'en') return new Map();
  const path = require.resolve(`#texts/${folder}/${language}.po`);
  let catalogue = cache.get(path);
  if (catalogue === undefined) {
    const { items } = PO.parse(readFileSync(path, 'utf8'));
    catalogue = new Map(items.map(({ msgid, msgstr }) => [msgid, msgstr.join('')]));
    cache.set(path, catalogue);
  }
  return catalogue;
}

export const noticeTexts: NoticeTexts = (language) => {
  const translations = catalogueOf('notices', language);
  return (text, values = {}) =>
    (translations.get(text) ?? text).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
};
