import { useLingui } from '@lingui/react';
import { useContext, useEffect, useState } from 'react';
import { sizeText } from '../kit/size-text.js';
import { ServicesContext } from '../services/context.js';

/** Sizes by URL, since rows are drawn again while scrolling. Files never change. */
const known = new Map<string, number>();
const MAX_KNOWN = 1000;

/** Returns the size in bytes; null for a file that the user may not read. */
async function sizeOf(url: string): Promise<number | null> {
  const response = await fetch(url, { method: 'HEAD' });
  const size = Number(response.headers.get('Content-Length'));
  if (!response.ok || size === 0) return null;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(url, size);
  return size;
}

/** Size of an uploaded file. With passed tokens, the page cannot request it and shows nothing. */
export function FileSize({ url, className }: { readonly url: string; readonly className?: string | undefined }) {
  const { i18n } = useLingui();
  const services = useContext(ServicesContext);
  const isKnowable = services !== null && !services.tokens;
  const [size, setSize] = useState(known.get(url) ?? null);
  useEffect(() => {
    if (isKnowable && !known.has(url)) sizeOf(url).then(setSize, () => {});
  }, [isKnowable, url]);
  return isKnowable && <bdi className={className}>{size !== null && sizeText(i18n, size)}</bdi>;
}
