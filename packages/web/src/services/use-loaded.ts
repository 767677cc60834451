import { useEffect, useState } from 'react';

const RETRY_MS = 5000;

/** Value whose code is loaded on first use; null until then and while it cannot be loaded. `load` must not change. */
export function useLoaded<T>(load: () => Promise<T>, isWanted = true): T | null {
  const [value, setValue] = useState<T | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const attempt = () =>
      void load().then(
        (loaded) => isOver || setValue(() => loaded),
        () => {
          if (!isOver) timer = setTimeout(attempt, RETRY_MS);
        },
      );
    attempt();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [load, isWanted]);
  return value;
}
