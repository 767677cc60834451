import type { I18n } from '@lingui/core';
import type { ManagingPage } from './managing-page.js';

const CATALOGS = {
  en: () => import('./texts/en.po'),
  de: () => import('./texts/de.po'),
} as const;

/** Loads in progress or done, one for each language. */
const loaded = new Map<string, Promise<typeof ManagingPage>>();

/** Loads the pages that manage things, with their texts, which the chat itself does not need. */
export function openManaging(i18n: I18n, locale: string): Promise<typeof ManagingPage> {
  const page = loaded.get(locale) ?? load(i18n, locale);
  loaded.set(locale, page);
  page.catch(() => loaded.delete(locale));
  return page;
}

async function load(i18n: I18n, locale: string): Promise<typeof ManagingPage> {
  const [{ messages }, page] = await Promise.all([
    CATALOGS[locale as keyof typeof CATALOGS](),
    import('./managing-page.js'),
  ]);
  i18n.load(locale, messages);
  return page.ManagingPage;
}
