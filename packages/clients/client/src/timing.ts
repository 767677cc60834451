const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** Exponential delays with jitter, so that clients do not all reconnect at the same time. */
export class BackOff {
  private failures = 0;

  /** Next delay in milliseconds. `atLeast`: delay requested by the server. */
  next(atLeast: number | null = null): number {
    const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.failures++);
    const delay = longest / 2 + (Math.random() * longest) / 2;
    return atLeast === null ? delay : atLeast + delay / 2;
  }

  reset(): void {
    this.failures = 0;
  }
}

/** Resolves after the delay or once `wake` is aborted. @throws the signal's reason as soon as it is aborted */
export async function sleep(ms: number, signal?: AbortSignal, wake?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (wake?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      wake?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    wake?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}

const TICK_MS = 10_000;
/** Browsers run timers of hidden pages only once a minute. */
const LONGEST_TICK_MS = 80_000;

/** `lost`: the machine was asleep, or its network came or went, so connections may be dead. `shown`: the page became visible. */
export type WakeUp = 'lost' | 'shown';

/** Returns a function that stops watching. */
export function watchForWakeUps(wakeUp: (kind: WakeUp) => void): () => void {
  let lastTick = Date.now();
  const timer: unknown = setInterval(() => {
    const now = Date.now();
    if (now - lastTick > LONGEST_TICK_MS) wakeUp('lost');
    lastTick = now;
  }, TICK_MS);
  // The timer must not keep Node alive.
  (timer as { unref?: () => void }).unref?.();
  const { document } = globalThis as { document?: EventTarget & { readonly visibilityState: string } };
  const page = globalThis as Partial<EventTarget>;
  const onNetwork = () => wakeUp('lost');
  const isShown = () => {
    if (document?.visibilityState === 'visible') wakeUp('shown');
  };
  page.addEventListener?.('online', onNetwork);
  page.addEventListener?.('offline', onNetwork);
  document?.addEventListener('visibilitychange', isShown);
  return () => {
    clearInterval(timer as number);
    page.removeEventListener?.('online', onNetwork);
    page.removeEventListener?.('offline', onNetwork);
    document?.removeEventListener('visibilitychange', isShown);
  };
}
