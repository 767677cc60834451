import { openOverlay } from '../services/overlay.js';

/** Opens the card of a person beside the element that names them. */
export const openPersonCard = (anchor: HTMLElement, userId: number): void =>
  openOverlay(anchor, async () => {
    const { PersonCard } = await import('./person-card.js');
    return <PersonCard userId={userId} />;
  });
