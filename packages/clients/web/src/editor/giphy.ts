/** GIF found by GIPHY. */
export interface Gif {
  readonly id: string;
  /** Possibly empty. */
  readonly title: string;
  readonly url: string;
  readonly previewUrl: string;
  /** Preview without motion; null if there is none. */
  readonly stillUrl: string | null;
}

export interface GifRequest {
  readonly key: string;
  /** `realm_gif_rating_policy`, from 1. */
  readonly policy: number;
  readonly language: string;
  /** Empty for trending GIFs. */
  readonly query: string;
  readonly offset: number;
}

/** @throws GifsRefused, or an error of the browser if GIPHY cannot be reached */
export type FindGifs = (request: GifRequest, signal: AbortSignal) => Promise<readonly Gif[]>;

/** Rejection by GIPHY, or a response of another shape. */
export class GifsRefused extends Error {}

export const PAGE_SIZE = 24;
/** Limit of GIPHY. */
const MAX_QUERY_LENGTH = 50;
const MAX_TITLE_LENGTH = 100;
/** Timeout for the response and its content. */
const TIMEOUT_MS = 15_000;

/** Maximum ratings by `realm_gif_rating_policy`. */
const RATINGS = ['', 'y', 'g', 'pg', 'pg-13', 'r'];

const HOST = /(^|\.)giphy\.com$/;

/** Returns a page of GIFs. The browser sends neither cookies nor the address of the chat. */
export const findGifs: FindGifs = async (request, signal) => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  signal.addEventListener('abort', () => abort.abort());
  const options = { signal: abort.signal, credentials: 'omit', referrerPolicy: 'no-referrer' } as const;
  try {
    const response = await fetch(gifsUrl(request), options);
    const gifs = response.ok ? parseGifs(await response.json()) : null;
    if (!gifs) throw new GifsRefused(`GIPHY responded with status ${response.status}`);
    return gifs;
  } finally {
    clearTimeout(timer);
  }
};

export function gifsUrl({ key, policy, language, query, offset }: GifRequest): string {
  const parameters = new URLSearchParams({
    api_key: key,
    rating: RATINGS[policy]!,
    limit: String(PAGE_SIZE),
    offset: String(offset),
  });
  if (query === '') return `https://api.giphy.com/v1/gifs/trending?${parameters}`;
  parameters.set('q', [...query].slice(0, MAX_QUERY_LENGTH).join(''));
  parameters.set('lang', language === 'zh-hans' ? 'zh-CN' : language.slice(0, 2));
  return `https://api.giphy.com/v1/gifs/search?${parameters}`;
}

/** Returns the valid GIFs of a response, without repetitions; null if it has another shape. */
export function parseGifs(response: unknown): readonly Gif[] | null {
  const data = fieldOf(response, 'data');
  if (!Array.isArray(data)) return null;
  const gifs = data.slice(0, PAGE_SIZE).map(toGif);
  return [...new Map(gifs.filter((gif) => gif !== null).map((gif) => [gif.id, gif])).values()];
}

function toGif(value: unknown): Gif | null {
  const [id, title, images] = ['id', 'title', 'images'].map((name) => fieldOf(value, name));
  const urlOf = (rendition: string) => gifUrl(fieldOf(fieldOf(images, rendition), 'url'));
  const url = urlOf('downsized_medium') ?? urlOf('original');
  const previewUrl = urlOf('fixed_height_small') ?? urlOf('fixed_height');
  if (typeof id !== 'string' || url === null || previewUrl === null) return null;
  return {
    id,
    title: typeof title === 'string' ? title.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_TITLE_LENGTH) : '',
    url,
    previewUrl,
    stillUrl: urlOf('fixed_height_small_still'),
  };
}

/** Returns a URL that is safe in Markdown links; null unless it is one of GIPHY. */
function gifUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null;
  const { protocol, hostname, port, username, password, href } = new URL(value);
  if (protocol !== 'https:' || !HOST.test(hostname) || `${port}${username}${password}` !== '') return null;
  return href.replaceAll(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
