import type { UrlParts } from '../links/url.js';

const HOSTS = new Set(
  ['', 'www.', 'm.'].map((prefix) => `${prefix}youtube.com`).concat('youtube-nocookie.com', 'www.youtube-nocookie.com'),
);
const ID = /^[0-9A-Za-z_-]+$/;

/** The video that an address leads to; null when it leads to none. */
export function youtubeId({ scheme, host, path, query }: UrlParts): string | null {
  if (scheme !== 'http' && scheme !== 'https') return null;
  const name = host.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase();
  const id =
    name === 'youtu.be' ? path.slice(1) : HOSTS.has(name) ? idOnYoutube(path, new URLSearchParams(query)) : null;
  return id && ID.test(id) ? id : null;
}

function idOnYoutube(path: string, query: URLSearchParams): string | null {
  if (path === '/watch' || path === '/watch_popup') return query.get('v');
  if (path === '/watch_videos') return query.get('video_ids')?.split(',')[0] ?? null;
  return /^\/(?:embed|shorts|v)\/([^/]*)/.exec(path)?.[1] ?? null;
}
