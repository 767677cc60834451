const CONTROLS = 'a[href], button:enabled, summary';

/** Control of each group that last had the focus when the Tab key was pressed. */
const left = new WeakMap<Element, Element>();

/**
 * Leaves one tab stop in each group, before the Tab key moves the focus: the focused control, the last one, the current
 * place, or the first control.
 */
export function placeStops(): void {
  for (const group of document.querySelectorAll('[data-stop]')) {
    const controls = [...group.querySelectorAll<HTMLElement>(CONTROLS)].filter((each) => each.checkVisibility());
    const find = (isWanted: (control: HTMLElement) => boolean) => controls.find(isWanted);
    const focused = find((each) => each === document.activeElement);
    if (focused) left.set(group, focused);
    const stop = find((each) => each === left.get(group)) ?? find((each) => each.ariaCurrent !== null) ?? controls[0];
    for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
  }
}

/** Moves the focus between the controls of a toolbar. Returns null for other keys and elsewhere. */
export function moveInBar({ key, target }: KeyboardEvent): (() => void) | null {
  const bar = (target as Element).closest?.('[role="toolbar"][data-stop]');
  if (!bar) return null;
  const forward = getComputedStyle(bar).direction === 'rtl' ? -1 : 1;
  const step = { ArrowRight: forward, ArrowLeft: -forward }[key];
  const controls = [...bar.querySelectorAll<HTMLElement>(CONTROLS)].filter((each) => each.checkVisibility());
  const index = controls.indexOf(target as HTMLElement);
  return step === undefined || index === -1 ? null : () => controls.at((index + step) % controls.length)!.focus();
}
