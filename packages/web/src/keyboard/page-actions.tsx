import type { LucideIcon } from 'lucide-react';
import { openOverlay } from '../services/overlay.js';

/** Action that the palette offers. */
export interface PageAction {
  readonly name: string;
  readonly icon: LucideIcon;
  run(): void;
}

export const openHelp = (anchor: HTMLElement) =>
  openOverlay(anchor, async () => {
    const { ShortcutsDialog } = await import('./shortcuts-dialog.js');
    return <ShortcutsDialog />;
  });

export const openDirect = (anchor: HTMLElement) =>
  openOverlay(anchor, async () => {
    const { DirectDialog } = await import('../people/direct-dialog.js');
    return <DirectDialog />;
  });
