import { openOverlay } from '../services/overlay.js';

/** Opens the card of a group beside the element that names it. */
export const openGroupCard = (anchor: HTMLElement, groupId: number): void =>
  openOverlay(anchor, async () => {
    const { GroupCard } = await import('./group-card.js');
    return <GroupCard groupId={groupId} />;
  });
