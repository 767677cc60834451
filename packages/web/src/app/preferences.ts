import type { I18n } from '@lingui/core';
import type { Chat } from '@parley/chat';
import { effect } from '@preact/signals-core';
import { changeHours, changeLanguage, isLanguage } from './languages.js';
import { showTheme, type Theme } from './theme.js';

const THEMES: readonly (Theme | null)[] = [null, 'dark', 'light'];
/** Size at which texts have the size that the browser suggests. */
const USUAL_SIZE_PX = 16;

/** Applies the user's theme, size of text, language and form of times, now and when they change anywhere. */
export function followPreferences(chat: Chat, i18n: I18n): void {
  let language: string | undefined;
  let has24Hours: boolean | null = null;
  effect(() => {
    const settings = chat.field('user_settings');
    if (!settings) return;
    showTheme(THEMES[settings.color_scheme - 1] ?? null);
    const { web_font_size_px: size } = settings;
    document.documentElement.style.fontSize = size === USUAL_SIZE_PX ? '' : `${(100 * size) / USUAL_SIZE_PX}%`;
    // The default of the organization is nobody's choice: then the browser's language is kept.
    const former = language ?? chat.field('realm_default_language');
    language = settings.default_language;
    if (language !== former && isLanguage(language)) void changeLanguage(i18n, language);
    if (settings.twenty_four_hour_time !== has24Hours) {
      has24Hours = settings.twenty_four_hour_time;
      changeHours(i18n, has24Hours);
    }
  });
}
