import type { I18n } from '@lingui/core';
import type { ManagingPage } from './managing-page.js';

/** Pending and finished loads, by language. */
const loaded = new Map<string, Promise<typeof ManagingPage>>();

/** Loads the management pages and their texts, which the chat itself does not need. */
export function openManaging(i18n: I18n, locale: string): Promise<typeof ManagingPage> {
  const page = loaded.get(locale) ?? load(i18n, locale);
  loaded.set(locale, page);
  page.catch(() => loaded.delete(locale));
  return page;
}

async function load(i18n: I18n, locale: string): Promise<typeof ManagingPage> {
  const [page] = await Promise.all([import('./managing-page.js'), loadManagingTexts(i18n, locale)]);
  return page.ManagingPage;
}

/** Loads only the texts, such as page titles. */
export async function loadManagingTexts(i18n: I18n, locale: string): Promise<void> {
  const { messages } = (await import(`./texts/${locale}.po`)) as typeof import('./texts/en.po');
  i18n.load(locale, messages);
}
