import { useEffect, useState } from 'react';

const RETRY_MS = 5000;

/** Loads code, again and again while that fails. */
export const retrying = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch(async () => {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return retrying(load);
  });

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
