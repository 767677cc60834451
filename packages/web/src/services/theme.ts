import { useField, useServices } from './context.js';
import { reportFailure } from './failures.js';

export type Theme = 'light' | 'dark';

const SCHEMES = { dark: 2, light: 3 } as const;

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Returns the theme, from the user's settings or the system, and a function that toggles it. */
export function useTheme(): readonly [theme: Theme, toggle: () => void] {
  const { client } = useServices();
  const scheme = useField('user_settings')?.color_scheme;
  const theme = scheme === SCHEMES.dark ? 'dark' : scheme === SCHEMES.light ? 'light' : systemTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  return [theme, () => void client.patch('/settings', { color_scheme: SCHEMES[other] }).catch(reportFailure)];
}
