import { Popover } from '@base-ui/react/popover';
import { type ReactNode, useRef } from 'react';
import { fieldIn, useOverlay } from './overlay.js';
import styles from './overlays.module.css';

interface Props {
  readonly label: string;
  readonly children: ReactNode;
}

/** Card next to the element that opened it. */
export function Card({ label, children }: Props) {
  const { anchor, container, close, finalFocus } = useOverlay();
  const popup = useRef<HTMLDivElement>(null);
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
          <Popover.Popup
            ref={popup}
            className={styles.card}
            part="card"
            aria-label={label}
            // The first control of a long card may be far below its start.
            initialFocus={() => fieldIn(popup.current) ?? popup.current}
            finalFocus={finalFocus}
          >
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
