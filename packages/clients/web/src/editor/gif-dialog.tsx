import { useLingui } from '@lingui/react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { RotateCcw } from '../icons/icons.js';
import { Dialog } from '../kit/dialog.js';
import { Loading } from '../kit/loading.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { useField } from '../services/context.js';
import { linkTo } from '../services/uploads.js';
import styles from './gif-dialog.module.css';
import { type FindGifs, findGifs, type Gif, GifsRefused, PAGE_SIZE } from './giphy.js';

const DEBOUNCE_MS = 300;
const MAX_PAGES = 10;
/** Required by GIPHY, in these words. */
const SOURCE = 'Powered by GIPHY';

interface Props {
  readonly find?: FindGifs;
  onInsert(markdown: string): void;
}

/** Searches GIFs at GIPHY, beginning with trending ones, and inserts a link to one. */
export function GifDialog({ find = findGifs, onInsert }: Props) {
  const { i18n } = useLingui();
  const { close } = useOverlay();
  const [query, setQuery] = useState('');
  const { gifs, failure, isLoading, hasMore, load } = useGifs(find, query.trim());
  return (
    <Dialog title={i18n._('Add a GIF')} isAtTop>
      <div className={overlays.form}>
        <input
          type="search"
          className={overlays.input}
          aria-label={i18n._('Search GIFs')}
          placeholder={i18n._('Search GIFs')}
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
        {(isLoading || gifs.length > 0) && (
          <ul className={styles.gifs} aria-label={i18n._('Add a GIF')} aria-busy={isLoading} onKeyDown={moveFocus}>
            {gifs.map((gif) => (
              <li key={gif.id}>
                <GifButton
                  gif={gif}
                  onPick={() => {
                    close();
                    onInsert(linkTo(gif.title || 'GIF', gif.url));
                  }}
                />
              </li>
            ))}
            {hasMore && (
              <li className={styles.more}>
                <button type="button" className={overlays.button} aria-disabled={isLoading} onClick={load}>
                  {i18n._('More GIFs')}
                </button>
              </li>
            )}
            {gifs.length === 0 && (
              <li className={styles.loading}>
                <Loading />
              </li>
            )}
          </ul>
        )}
        {failure !== null && (
          <p className={overlays.failure} role="alert">
            {failure instanceof GifsRefused
              ? i18n._('GIPHY rejected the request. Please try again later.')
              : i18n._('GIPHY cannot be reached.')}{' '}
            <button type="button" className={overlays.button} onClick={load}>
              <RotateCcw size={16} aria-hidden /> {i18n._('Try again')}
            </button>
          </p>
        )}
        <p role="status">{failure === null && !isLoading && gifs.length === 0 && i18n._('No GIF found')}</p>
        <p className={styles.source} lang="en">
          {SOURCE}
        </p>
      </div>
    </Dialog>
  );
}

function GifButton({ gif, onPick }: { readonly gif: Gif; onPick(): void }) {
  return (
    <button type="button" className={styles.gif} title={gif.title} onClick={onPick}>
      <picture>
        {gif.stillUrl !== null && <source srcSet={gif.stillUrl} media="(prefers-reduced-motion: reduce)" />}
        <img src={gif.previewUrl} alt={gif.title || 'GIF'} loading="lazy" referrerPolicy="no-referrer" />
      </picture>
    </button>
  );
}

interface Found {
  readonly gifs: readonly Gif[];
  readonly isLoading: boolean;
  readonly failure: unknown;
  readonly hasMore: boolean;
}

/** GIFs of a search, by pages. A new search aborts the previous request. */
function useGifs(find: FindGifs, query: string) {
  const { locale: language } = useLingui().i18n;
  const key = useField('giphy_api_key') ?? '';
  const policy = useField('realm_gif_rating_policy') ?? 1;
  const [request, setRequest] = useState({ query, page: 0 });
  const [found, setFound] = useState<Found>({ gifs: [], isLoading: true, failure: null, hasMore: false });
  useEffect(() => {
    if (query === request.query) return;
    const timer = setTimeout(() => setRequest({ query, page: 0 }), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [query, request]);
  useEffect(() => {
    const abort = new AbortController();
    const { page } = request;
    const load = async () => {
      setFound(({ gifs, hasMore }) => ({
        gifs: page === 0 ? [] : gifs,
        isLoading: true,
        failure: null,
        hasMore: hasMore && page > 0,
      }));
      const offset = page * PAGE_SIZE;
      const next = await find({ key, policy, language, query: request.query, offset }, abort.signal);
      if (abort.signal.aborted) return;
      setFound(({ gifs }) => ({
        gifs: withoutRepetitions([...gifs, ...next]),
        isLoading: false,
        failure: null,
        hasMore: next.length > 0 && page + 1 < MAX_PAGES,
      }));
    };
    load().catch((failure: unknown) => {
      if (!abort.signal.aborted) setFound(({ gifs }) => ({ gifs, isLoading: false, failure, hasMore: false }));
    });
    return () => abort.abort();
  }, [find, key, policy, language, request]);
  const load = () => {
    if (!found.isLoading) setRequest({ query: request.query, page: request.page + (found.failure === null ? 1 : 0) });
  };
  return { ...found, load };
}

/** Pages of trending GIFs shift between requests. */
const withoutRepetitions = (gifs: readonly Gif[]): readonly Gif[] => [
  ...new Map(gifs.map((gif) => [gif.id, gif])).values(),
];

/** Arrow keys move the focus between the buttons of the grid. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, target, currentTarget } = event;
  const buttons = [...currentTarget.querySelectorAll('button')];
  const index = buttons.indexOf(target as HTMLButtonElement);
  const columns = buttons.filter(({ offsetTop }) => offsetTop === buttons[0]!.offsetTop).length;
  const forward = getComputedStyle(currentTarget).direction === 'rtl' ? -1 : 1;
  const step = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: columns, ArrowUp: -columns }[key];
  if (step === undefined || index === -1) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, index + step))]!.focus();
}
