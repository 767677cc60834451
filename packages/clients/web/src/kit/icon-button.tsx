import { useLingui } from '@lingui/react';
import type { ComponentType, MouseEventHandler, ReactNode } from 'react';
import { openOverlay } from '../services/overlay.js';
import { keyNames } from './key-names.js';
import styles from './kit.module.css';

export interface IconButtonProps {
  readonly icon: ComponentType<{ readonly size?: number }>;
  readonly label: string;
  readonly onClick: MouseEventHandler<HTMLButtonElement>;
  readonly isPressed?: boolean;
  readonly isDisabled?: boolean;
  /** Kind of overlay that it opens. */
  readonly opens?: 'menu' | 'dialog';
  /** Equivalent key, in `aria-keyshortcuts` form. */
  readonly shortcut?: string;
}

/** Icon button; its label is read aloud, and shown on hover with the equivalent key. */
export function IconButton({ icon: Icon, label, onClick, isPressed, isDisabled, opens, shortcut }: IconButtonProps) {
  const { i18n } = useLingui();
  return (
    <button
      type="button"
      className={styles.iconButton}
      aria-label={label}
      title={shortcut ? `${label} (${keyNames(shortcut, i18n)})` : label}
      aria-pressed={isPressed}
      aria-haspopup={opens}
      aria-keyshortcuts={shortcut}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon size={18} />
    </button>
  );
}

interface OverlayButtonProps extends Omit<IconButtonProps, 'onClick'> {
  /** Loads the overlay on first use. */
  load(): Promise<ReactNode>;
}

/** Icon button that opens a menu or dialog. */
export const OverlayButton = ({ load, ...button }: OverlayButtonProps) => (
  <IconButton {...button} onClick={({ currentTarget }) => openOverlay(currentTarget, load)} />
);
