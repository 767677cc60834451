import { useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';

export type Theme = 'light' | 'dark';

const KEY = 'parley-theme';
const SCHEMES = { dark: 2, light: 3 } as const;

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Theme of the user's settings, else the system's, and a function that chooses the other one. */
export function useTheme(): readonly [theme: Theme, toggle: () => void] {
  const { client } = useServices();
  const scheme = useField('user_settings')?.color_scheme;
  const theme = scheme === SCHEMES.dark ? 'dark' : scheme === SCHEMES.light ? 'light' : systemTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  return [theme, () => void client.patch('/settings', { color_scheme: SCHEMES[other] }).catch(reportFailure)];
}

/** Shows a theme, or the system's, and keeps it for the next start of this browser. */
export function showTheme(theme: Theme | null): void {
  if (theme === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // Storage may be forbidden; the page then starts in the system's theme.
  try {
    if (theme === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {}
}

/** Shows the last theme before anything is drawn. */
export function applyTheme(): void {
  try {
    const theme = localStorage.getItem(KEY);
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {}
}
