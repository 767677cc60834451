import { useState } from 'react';

type Theme = 'light' | 'dark';

const KEY = 'parley-theme';

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Theme that the user chose in this browser, else the system's. */
export function useTheme(): readonly [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(() => chosenTheme() ?? systemTheme());
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    // Storage may be forbidden; the choice then lasts until the page is left.
    try {
      localStorage.setItem(KEY, next);
    } catch {}
    setTheme(next);
  };
  return [theme, toggle];
}

function chosenTheme(): Theme | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : null;
  } catch {
    return null;
  }
}

/** Applies the chosen theme before anything is drawn. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme !== null) document.documentElement.dataset.theme = theme;
}
