import { useLingui } from '@lingui/react';
import type { Icon } from '../icons/icon.js';
import { Moon, Sun } from '../icons/icons.js';
import { useField, useServices } from './context.js';
import { reportFailure } from './failures.js';

const SCHEMES = { dark: 2, light: 3 } as const;

const isSystemDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches;

/** Action that switches to the other theme. The current one is from the user's settings or the system. */
export function useThemeToggle(): { readonly name: string; readonly icon: Icon; run(): void } {
  const { i18n } = useLingui();
  const { client } = useServices();
  const scheme = useField('user_settings')?.color_scheme;
  const isDark = scheme === SCHEMES.dark || (scheme !== SCHEMES.light && isSystemDark());
  const next = isDark ? SCHEMES.light : SCHEMES.dark;
  return {
    name: isDark ? i18n._('Light theme') : i18n._('Dark theme'),
    icon: isDark ? Sun : Moon,
    run: () => void client.patch('/settings', { color_scheme: next }).catch(reportFailure),
  };
}
