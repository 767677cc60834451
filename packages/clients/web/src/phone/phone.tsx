import { useEffect, useState } from 'react';
import { ArrowUp, RotateCcw } from '../icons/icons.js';
import { type Services, useChat, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import { forgetPage, keepForOffline, takeShared } from './offline.js';
import styles from './phone.module.css';
import { type Gesture, type GestureKind, watchTouches } from './touches.js';

/** Touch gestures, and the offline start, shared content and badge of the installed application. */
export function Phone() {
  const services = useServices();
  const [gesture, setGesture] = useState<Gesture | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOver = useReading(services.chat.connection).state === 'ended';
  useBadge(isOver);
  // The page works without the offline start.
  useEffect(() => void startInstalled(services).catch(() => {}), [services]);
  // Pages of ended sessions must not start offline.
  useEffect(() => {
    if (isOver) forgetPage(services.baseUrl).catch(() => {});
  }, [isOver, services]);
  useEffect(() => {
    const onComplete = (kind: GestureKind) => {
      if (kind === 'back') goBack();
      else if (kind === 'close') menuButton()?.click();
      else {
        setGesture({ kind, isComplete: true });
        setBusy(true);
        showNewest(services)
          .catch(reportFailure)
          .finally(() => {
            setBusy(false);
            setGesture(null);
          });
      }
    };
    return watchTouches({ onMove: setGesture, onComplete });
  }, [services]);
  if (!gesture || gesture.kind === 'close') return null;
  const Icon = gesture.kind === 'back' ? ArrowUp : RotateCcw;
  return (
    <span
      className={styles.gesture}
      data-kind={gesture.kind}
      data-complete={gesture.isComplete || undefined}
      data-busy={isBusy || undefined}
      aria-hidden
    >
      <Icon size={20} />
    </span>
  );
}

/** Caches the page for offline starts, and opens a dialog for content shared by another application. */
async function startInstalled({ baseUrl }: Services): Promise<void> {
  const isInstalled = matchMedia('(pointer: coarse), (display-mode: standalone)').matches;
  // Browsers may forbid workers and storage.
  if (isInstalled) keepForOffline(baseUrl).catch(() => {});
  const shared = await takeShared(baseUrl);
  if (!shared) return;
  openOverlay(document.querySelector('main')!, async () => {
    const { ShareDialog } = await import('./share-dialog.js');
    return <ShareDialog {...shared} />;
  });
}

/** Shows the number of unread messages on the icon of the installed application. */
function useBadge(isOver: boolean): void {
  const unread = useReading(useChat().sidebar.badge);
  const count = isOver ? 0 : unread;
  useEffect(() => {
    // Private windows reject the call.
    void navigator.setAppBadge?.(count).catch(() => {});
  }, [count]);
}

/** Button that opens the list of conversations. */
const menuButton = () => document.querySelector<HTMLElement>('[data-menu]');

interface History {
  readonly currentEntry: { readonly index: number } | null;
  entries(): readonly { readonly url: string | null }[];
}

/** Goes back within the application, or to the list of conversations. */
function goBack(): void {
  const { navigation } = globalThis as { readonly navigation?: History };
  const index = navigation?.currentEntry?.index ?? 0;
  const before = navigation?.entries()[index - 1]?.url;
  if (before && before.split('#')[0] === location.href.split('#')[0]) history.back();
  else menuButton()?.click();
}

const SHOWN_MS = 600;

/** Reconnects immediately, and fetches messages that do not arrive as events. */
async function showNewest({ chat, navigation }: Services): Promise<void> {
  // Skips the pause before the next attempt.
  dispatchEvent(new Event('online'));
  const isShown = new Promise((resolve) => setTimeout(resolve, SHOWN_MS));
  if (navigation.current().address?.view === 'narrow') chat.reload();
  else await chat.loadRecentTopics();
  await isShown;
}
