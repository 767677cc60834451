/** Minimum height of an on-screen keyboard. */
const KEYBOARD_PX = 150;

/**
 * Marks the page while the on-screen keyboard is open, and shrinks it in browsers that draw the keyboard over pages.
 * Returns a function that removes the listener.
 */
export function watchKeyboard(): () => void {
  const view = visualViewport;
  const page = document.getElementById('parley');
  if (!view || !page) return () => {};
  let [width, tallest] = [0, 0];
  const fit = () => {
    if (view.scale !== 1) return;
    if (width !== innerWidth) [width, tallest] = [innerWidth, 0];
    tallest = Math.max(tallest, innerHeight);
    page.toggleAttribute('data-keyboard', tallest - view.height > KEYBOARD_PX);
    const isCovered = innerHeight - view.height > KEYBOARD_PX;
    page.style.height = isCovered ? `${view.height}px` : '';
    // Reverts the browser's scrolling to the field, which the shorter page shows anyway.
    if (isCovered) scrollTo(0, 0);
  };
  fit();
  view.addEventListener('resize', fit);
  return () => view.removeEventListener('resize', fit);
}
