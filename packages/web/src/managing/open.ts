import type { I18n } from '@lingui/core';
import type { ManagingPage } from './managing-page.js';

const CATALOGS = {
  en: () => import('./texts/en.po'),
  de: () => import('./texts/de.po'),
} as const;

const loaded = new WeakMap<I18n, Promise<typeof ManagingPage>>();

/** Loads the pages that manage things, with their texts, which the chat itself does not need. */
export function openManaging(i18n: I18n): Promise<typeof ManagingPage> {
  const page = loaded.get(i18n) ?? load(i18n);
  loaded.set(i18n, page);
  page.catch(() => loaded.delete(i18n));
  return page;
}

async function load(i18n: I18n): Promise<typeof ManagingPage> {
  const [{ messages }, page] = await Promise.all([
    CATALOGS[i18n.locale as keyof typeof CATALOGS](),
    import('./managing-page.js'),
  ]);
  i18n.load(i18n.locale, messages);
  return page.ManagingPage;
}
