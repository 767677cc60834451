import { ParleyError } from '@parley/client';
import { useEffect, useState } from 'react';

const RETRY_MS = 3000;

/** Failed style sheets being reloaded. */
const sheets = new Set<Promise<void>>();

/** Reloads failed style sheets, which the chunk loader does not retry. */
export function loadSheetsAgain(): void {
  addEventListener('vite:preloadError', (event) => {
    const [, href] = /^Unable to preload CSS for (.+)$/.exec(event.payload.message) ?? [];
    if (href === undefined) return;
    event.preventDefault();
    const loaded = loadSheet(href).finally(() => sheets.delete(loaded));
    sheets.add(loaded);
  });
}

async function loadSheet(href: string): Promise<void> {
  do await pause();
  while (!(await hasLoaded(href)));
}

const hasLoaded = (href: string): Promise<boolean> =>
  new Promise((resolve) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', crossOrigin: '', href });
    link.onload = () => resolve(true);
    link.onerror = () => {
      link.remove();
      resolve(false);
    };
    document.head.append(link);
  });

/** Waits for a while, or until the network returns. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      removeEventListener('online', end);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, RETRY_MS);
    addEventListener('online', end);
  });

/** Loads code and styles, retrying on failure. @throws the last error once the code is unwanted */
export async function retrying<T>(load: () => Promise<T>, isWanted = () => true): Promise<T> {
  try {
    const loaded = await load();
    await Promise.all(sheets);
    return loaded;
  } catch (error) {
    // A server error raised by the code on its first use.
    if (error instanceof ParleyError || !isWanted()) throw error;
    await pause();
    return retrying(load, isWanted);
  }
}

/** Values of functions that load code, so that later uses need no second rendering. */
const loadedValues = new WeakMap<() => Promise<unknown>, unknown>();

/** Loads code before its first use. */
export async function preload<T>(load: () => Promise<T>): Promise<T> {
  const value = await retrying(load);
  loadedValues.set(load, value);
  return value;
}

/**
 * Value from code loaded on first use; null until loaded. Another `load`, such as for another language, replaces the value
 * once it has loaded.
 */
export function useLoaded<T>(load: () => Promise<T>, isWanted = true): T | null {
  const [last, setLast] = useState<{ readonly load: () => Promise<T>; readonly value: T } | null>(null);
  const known = isWanted ? (loadedValues.get(load) as T | undefined) : undefined;
  const isMissing = isWanted && known === undefined && last?.load !== load;
  useEffect(() => {
    if (!isMissing) return;
    let isOver = false;
    void preload(load).then((value) => isOver || setLast({ load, value }));
    return () => {
      isOver = true;
    };
  }, [load, isMissing]);
  return known ?? last?.value ?? null;
}

let begin = () => {};
/** Resolves once the first messages, or a page without any, are visible. */
export const isDrawn = new Promise<void>((resolve) => {
  begin = resolve;
});

/** Signals that messages, or a page without any, are visible. */
export function useDrawn(isReady: boolean): void {
  useEffect(() => {
    if (isReady) afterPaint(begin);
  }, [isReady]);
}

/** Background pages are not painted. */
function afterPaint(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(run)));
}

/** Loads code after the first message, since that does not need it. */
export const loadLater = <T>(load: () => Promise<T>): Promise<T> => isDrawn.then(() => retrying(load));
