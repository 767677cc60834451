import type { I18n } from '@lingui/core';
import type { Chat } from '@parley/chat';
import { effect } from '@preact/signals-core';
import { changeHours, changeLanguage } from './languages.js';

type Theme = 'light' | 'dark';

const THEMES: readonly (Theme | null)[] = [null, 'dark', 'light'];
/** Font size that corresponds to the browser's default size. */
const USUAL_SIZE_PX = 16;
/** Line height setting, in percent, that equals the style sheet's line height. */
const USUAL_HEIGHT = 140;
/** Line height below which other spaces shrink too; Zulip's compact value is 122. */
const COMPACT_BELOW = 130;
const THEME_KEY = 'parley-theme';
const HOURS_KEY = 'parley-hours';

/** Applies the user's theme, font size, language and time format, initially and on every change. */
export function followPreferences(chat: Chat, i18n: I18n): void {
  let language: string | undefined;
  let hours: boolean | null | undefined;
  effect(() => {
    const settings = chat.field('user_settings');
    if (!settings) return;
    showTheme(THEMES[settings.color_scheme - 1] ?? null);
    const { web_font_size_px: size, web_line_height_percent: height } = settings;
    document.documentElement.style.fontSize = size === USUAL_SIZE_PX ? '' : `${(100 * size) / USUAL_SIZE_PX}%`;
    const { style, dataset } = document.documentElement;
    style.setProperty('--parley-line-height', height === USUAL_HEIGHT ? '' : String((1.5 * height) / USUAL_HEIGHT));
    if (height < COMPACT_BELOW) dataset.compact = '';
    else delete dataset.compact;
    // The user did not choose the organization's default, so the browser's language is kept.
    const former = language ?? chat.field('realm_default_language');
    language = settings.default_language;
    if (language !== former) void changeLanguage(i18n, language);
    // The same holds for the format of times, unless it was chosen in this browser.
    const formerHours = hours === undefined ? chat.field('realm_user_settings_defaults')?.twenty_four_hour_time : hours;
    const isChosen = hours !== undefined && hours !== settings.twenty_four_hour_time;
    hours = settings.twenty_four_hour_time;
    if (isChosenHours(hours, isChosen) || hours !== formerHours) changeHours(i18n, hours);
  });
}

/** Stores a chosen format of times. Returns true if it was chosen, now or earlier. */
function isChosenHours(hours: boolean | null, isChosen: boolean): boolean {
  // Storage may be forbidden.
  try {
    if (isChosen) localStorage.setItem(HOURS_KEY, String(hours));
    return localStorage.getItem(HOURS_KEY) === String(hours);
  } catch {
    return isChosen;
  }
}

/** Shows a theme, or the system's, and stores it for the next start. */
function showTheme(theme: Theme | null): void {
  if (theme === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // Storage may be forbidden; the page then starts in the system theme.
  try {
    if (theme === null) localStorage.removeItem(THEME_KEY);
    else localStorage.setItem(THEME_KEY, theme);
  } catch {}
}

/** Applies the last theme before the first render. */
export function applyTheme(): void {
  // Storage may be forbidden.
  try {
    const theme = localStorage.getItem(THEME_KEY);
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {}
}
