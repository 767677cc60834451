import { openOverlay } from '../services/overlay.js';

/** Opens a person's card next to the element that names them, unless the host page handles it. */
export function openPersonCard(anchor: HTMLElement, userId: number): void {
  const options = { detail: { userId }, bubbles: true, composed: true, cancelable: true };
  if (!anchor.dispatchEvent(new CustomEvent('parley-person', options))) return;
  openOverlay(anchor, async () => {
    const { PersonCard } = await import('./person-card.js');
    return <PersonCard userId={userId} />;
  });
}
