import { useState } from 'react';
import { readStored, store } from '../services/storage.js';

type Theme = 'light' | 'dark';

const KEY = 'parley-theme';

const systemTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

/** Theme that the user chose in this browser, else the system's. */
export function useTheme(): readonly [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(() => chosenTheme() ?? systemTheme());
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    store(KEY, next);
    setTheme(next);
  };
  return [theme, toggle];
}

function chosenTheme(): Theme | null {
  const theme = readStored(KEY);
  return theme === 'light' || theme === 'dark' ? theme : null;
}

/** Applies the chosen theme before anything is drawn. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme !== null) document.documentElement.dataset.theme = theme;
}
