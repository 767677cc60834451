import { ParleyError } from '@parley/client';
import { useEffect, useState } from 'react';

const RETRY_MS = 3000;

/** Style sheets that failed and are being loaded again. */
const sheets = new Set<Promise<void>>();

/** Loads style sheets again that fail, which the loader of chunks does not. */
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

/** Loads code with its styles, again and again while that fails. @throws the last error if it is not wanted any more */
export async function retrying<T>(load: () => Promise<T>, isWanted = () => true): Promise<T> {
  try {
    const loaded = await load();
    await Promise.all(sheets);
    return loaded;
  } catch (error) {
    // A refusal of the server, which the code asked on its first use.
    if (error instanceof ParleyError || !isWanted()) throw error;
    await pause();
    return retrying(load, isWanted);
  }
}

/** Value whose code is loaded on first use; null until then and while it cannot be loaded. `load` must not change. */
export function useLoaded<T>(load: () => Promise<T>, isWanted = true): T | null {
  const [value, setValue] = useState<T | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    void retrying(load).then((loaded) => isOver || setValue(() => loaded));
    return () => {
      isOver = true;
    };
  }, [load, isWanted]);
  return value;
}

let begin = () => {};
/** Resolves once the first messages, or a page without any, are on screen. */
export const isDrawn = new Promise<void>((resolve) => {
  begin = resolve;
});

/** Tells that messages or a page without any are on screen. */
export function useDrawn(isReady: boolean): void {
  useEffect(() => {
    if (isReady) afterPaint(begin);
  }, [isReady]);
}

/** Pages in the background are not painted. */
function afterPaint(run: () => void): void {
  if (document.hidden) run();
  else requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(run)));
}

/** Loads code that the first message does not need after that one. */
export const loadLater = <T>(load: () => Promise<T>): Promise<T> => isDrawn.then(() => retrying(load));
