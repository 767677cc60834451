import { reportFailure } from '../services/failures.js';
import type { PassedTokens } from '../services/passed-tokens.js';

/** Chat address of a clicked link; null for other clicks. */
export function hashOfLink(event: MouseEvent, baseUrl: string): string | null {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return null;
  const href = link.getAttribute('href')!;
  if (href.startsWith('#')) return href;
  return link.href.startsWith(`${baseUrl}#`) ? link.hash : null;
}

/** Beginnings of file addresses that need a passed token. */
const FILES = ['user_uploads/', 'api/v1/export/users/'];

/** Address of a file behind a clicked link; null for other clicks. */
export function fileOfLink(event: MouseEvent, baseUrl: string): string | null {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  return link && !event.defaultPrevented && FILES.some((path) => link.href.startsWith(baseUrl + path))
    ? link.href
    : null;
}

/** Downloads a file with a passed token. */
export function downloadFile(tokens: PassedTokens, url: string, event: Event): void {
  event.preventDefault();
  tokens
    .loadFile(url)
    .then((blob) => {
      const href = URL.createObjectURL(blob);
      const download = decodeURIComponent(new URL(url).pathname.split('/').at(-1)!);
      Object.assign(document.createElement('a'), { href, download }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    })
    .catch(reportFailure);
}
