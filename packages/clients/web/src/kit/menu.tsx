import { Menu as Base } from '@base-ui/react/menu';
import { useLingui } from '@lingui/react';
import type { ComponentType, ReactNode } from 'react';
import { Check } from '../icons/icons.js';
import { keyNames } from './key-names.js';
import { useOverlay } from './overlay.js';
import styles from './overlays.module.css';

interface MenuProps {
  readonly label: string;
  /** True to cover the lower edge of touch screens. */
  readonly isSheet?: boolean;
  readonly children: ReactNode;
}

/** Menu next to the element that opened it. */
export function Menu({ label, isSheet, children }: MenuProps) {
  const { anchor, container, close, finalFocus } = useOverlay();
  return (
    <Base.Root open onOpenChange={(isOpen) => isOpen || close()}>
      {/* Menus belong to a landmark, unlike dialogs. */}
      <Base.Portal container={container.querySelector('main') ?? container}>
        <Base.Positioner
          className={styles.positioner}
          data-sheet={isSheet || undefined}
          anchor={anchor}
          align="end"
          sideOffset={4}
          collisionPadding={8}
        >
          <Base.Popup className={styles.menu} part="menu" aria-label={label} finalFocus={finalFocus}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface ItemProps {
  readonly icon: ComponentType<{ readonly size?: number }>;
  readonly onSelect: () => void;
  readonly isDangerous?: boolean;
  /** Equivalent key outside of the menu, in `aria-keyshortcuts` form. */
  readonly shortcut?: string | undefined;
  readonly children: ReactNode;
}

export function MenuItem({ icon: Icon, onSelect, isDangerous, shortcut, children }: ItemProps) {
  const { i18n } = useLingui();
  const keys = shortcut?.replace(/^[A-Z]$/, 'Shift+$&');
  return (
    <Base.Item
      className={styles.item}
      data-dangerous={isDangerous || undefined}
      aria-keyshortcuts={keys}
      onClick={onSelect}
    >
      <Icon size={16} aria-hidden />
      {children}
      {keys && <kbd aria-hidden>{keyNames(keys, i18n)}</kbd>}
    </Base.Item>
  );
}

interface RowProps {
  readonly label: string;
  readonly items: readonly { readonly name: string; readonly content: ReactNode; onSelect(): void }[];
}

/** Items side by side. */
export function MenuRow({ label, items }: RowProps) {
  return (
    <Base.Group className={styles.itemRow} aria-label={label}>
      {items.map(({ name, content, onSelect }) => (
        <Base.Item key={name} className={styles.item} aria-label={name} onClick={onSelect}>
          {content}
        </Base.Item>
      ))}
    </Base.Group>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  onChoose(value: T): void;
}

/** Menu item for a setting with several values. */
export function MenuChoice<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) {
  return (
    <Base.Group>
      <Base.GroupLabel className={styles.groupLabel}>{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChoose}>
        {options.map((option) => (
          <Base.RadioItem key={option.value} value={option.value} className={styles.item} closeOnClick>
            <span className={styles.indicator}>
              <Base.RadioItemIndicator>
                <Check size={16} aria-hidden />
              </Base.RadioItemIndicator>
            </span>
            {option.label}
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

export const MenuLine = () => <Base.Separator className={styles.line} />;
