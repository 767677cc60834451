/** Place within the chat to which a click on a link leads; null for other clicks. */
export function hashOfLink(event: MouseEvent, baseUrl: string): string | null {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return null;
  const href = link.getAttribute('href')!;
  if (href.startsWith('#')) return href;
  return link.href.startsWith(`${baseUrl}#`) ? link.hash : null;
}
