import { openOverlay } from '../services/overlay.js';

/** Opens the card of a person beside the element that names them, unless the page shows something of its own. */
export function openPersonCard(anchor: HTMLElement, userId: number): void {
  const options = { detail: { userId }, bubbles: true, composed: true, cancelable: true };
  if (!anchor.dispatchEvent(new CustomEvent('parley-person', options))) return;
  openOverlay(anchor, async () => {
    const { PersonCard } = await import('./person-card.js');
    return <PersonCard userId={userId} />;
  });
}
