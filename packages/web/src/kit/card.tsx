import { Popover } from '@base-ui/react/popover';
import type { ReactNode } from 'react';
import { focusAfter, useOverlay } from './overlay.js';
import styles from './overlays.module.css';

interface Props {
  readonly label: string;
  readonly children: ReactNode;
}

/** Card next to the element that opened it. */
export function Card({ label, children }: Props) {
  const { anchor, returnTo, container, close } = useOverlay();
  return (
    <Popover.Root open onOpenChange={(isOpen) => isOpen || close()}>
      <Popover.Portal container={container}>
        <Popover.Positioner
          className={styles.positioner}
          anchor={anchor}
          align="start"
          sideOffset={6}
          collisionPadding={8}
        >
          <Popover.Popup className={styles.card} part="card" aria-label={label} finalFocus={() => focusAfter(returnTo)}>
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
