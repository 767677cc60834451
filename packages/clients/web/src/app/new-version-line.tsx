import { useLingui } from '@lingui/react';
import { useEffect, useState } from 'react';
import { useServices } from '../services/context.js';
import { overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './app.module.css';

/** Idle time without keys and clicks before the page reloads. */
const QUIET_MS = 60_000;
/** Minimum time between reloads, in case several servers have different versions. */
const PATIENCE_MS = 10 * 60_000;
const SWITCHED_AT = 'parley-switched-at';

/** Offers a new server version after an upgrade and reloads when the page is idle. */
export function NewVersionLine() {
  const { i18n } = useLingui();
  const { chat, uploads, baseUrl } = useServices();
  const { state } = useReading(chat.connection);
  const [isNew, setNew] = useState(false);
  // An upgrade drops the connection, so a check follows each reconnection, including those after sleep.
  useEffect(() => {
    if (state !== 'online' || isNew) return;
    const check = () => void hasNewVersion(baseUrl).then((found) => found && setNew(true));
    check();
    addEventListener('vite:preloadError', check);
    return () => removeEventListener('vite:preloadError', check);
  }, [state, isNew, baseUrl]);
  useEffect(() => {
    if (!isNew || Date.now() - Number(sessionStorage.getItem(SWITCHED_AT) ?? 0) < PATIENCE_MS) return;
    const switchOver = () => {
      if (overlay.peek() !== null || uploads.opened?.isBusy()) return;
      sessionStorage.setItem(SWITCHED_AT, String(Date.now()));
      location.reload();
    };
    let timer = setTimeout(switchOver, QUIET_MS);
    const restart = () => {
      clearTimeout(timer);
      if (document.hidden) switchOver();
      timer = setTimeout(switchOver, QUIET_MS);
    };
    const signs = ['keydown', 'pointerdown', 'wheel', 'visibilitychange'] as const;
    for (const sign of signs) document.addEventListener(sign, restart, { passive: true });
    return () => {
      clearTimeout(timer);
      for (const sign of signs) document.removeEventListener(sign, restart);
    };
  }, [isNew, uploads]);
  if (!isNew) return null;
  return (
    <output className={styles.offline}>
      {i18n._('There is a new version of this page.')}{' '}
      <button type="button" className={styles.again} onClick={() => location.reload()}>
        {i18n._('Load it now')}
      </button>
    </output>
  );
}

/** True if the server's page references other scripts. */
async function hasNewVersion(baseUrl: string): Promise<boolean> {
  const own = [...document.querySelectorAll<HTMLScriptElement>('script[type="module"][src]')];
  const response = await fetch(baseUrl, { headers: { Accept: 'text/html' } }).catch(() => null);
  if (!response?.ok || response.redirected) return false;
  const page = await response.text();
  return page.includes('<script type="module"') && own.some(({ src }) => !page.includes(src.split('/').at(-1)!));
}
