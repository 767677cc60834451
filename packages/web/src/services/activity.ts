const IDLE_AFTER_MS = 5 * 60_000;

/** Returns a function that says whether the user did something on the page lately. */
export function watchActivity(): () => boolean {
  let lastInput = Date.now();
  const active = () => {
    lastInput = Date.now();
  };
  for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const) {
    addEventListener(type, active, { passive: true, capture: true });
  }
  return () => document.hasFocus() && Date.now() - lastInput < IDLE_AFTER_MS;
}
