import { useContext, useEffect, useState } from 'react';
import { ServicesContext } from './context.js';

/**
 * Returns a URL with which the page can show a file; null until known. Passed tokens require fetching the file;
 * `onFailure` is called if that fails.
 */
export function useFile(url: string, onFailure = () => {}): string | null {
  const services = useContext(ServicesContext);
  const tokens = services && url.startsWith(`${services.baseUrl}user_uploads/`) ? services.tokens : undefined;
  const [fetched, setFetched] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function does not fetch the file again.
  useEffect(() => {
    if (!tokens) return;
    let isOver = false;
    let own: string | undefined;
    tokens.loadFile(url).then((blob) => {
      if (isOver) return;
      own = URL.createObjectURL(blob);
      setFetched(own);
    }, onFailure);
    return () => {
      isOver = true;
      setFetched(null);
      if (own !== undefined) URL.revokeObjectURL(own);
    };
  }, [tokens, url]);
  return tokens ? fetched : url;
}
