import { useLingui } from '@lingui/react';
import type { KeyboardEvent, ReactNode } from 'react';
import styles from './emoji-grid.module.css';

interface Props {
  /** Id of the list of emoji. */
  readonly listId: string;
  /** Index of the shown category; null while a search shows all. */
  readonly shown: number | null;
  /** Picture of a custom emoji; null if there are none. */
  readonly customUrl: string | null;
  onShow(category: number): void;
}

/** Tabs of the categories: all emoji, those of Unicode, custom ones. */
export function EmojiTabs({ listId, shown, customUrl, onShow }: Props) {
  const { i18n } = useLingui();
  const tabs: readonly (readonly [icon: ReactNode, label: string])[] = [
    ['🕘', i18n._('All emoji, recent ones first')],
    ['😀', i18n._('Smileys')],
    ['👋', i18n._('People and gestures')],
    ['🐻', i18n._('Animals and nature')],
    ['🍔', i18n._('Food and drink')],
    ['🚗', i18n._('Travel and places')],
    ['⚽', i18n._('Activities')],
    ['💡', i18n._('Objects')],
    ['🔣', i18n._('Symbols')],
    ['🏁', i18n._('Flags')],
    ...(customUrl === null
      ? []
      : [[<img key="" src={customUrl} alt="" width={18} height={18} />, i18n._('Custom emoji')] as const]),
  ];
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? -1 : 1;
    const at = shown ?? 0;
    const next = { ArrowRight: at + forward, ArrowLeft: at - forward, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const index = (next + tabs.length) % tabs.length;
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[index]!.focus();
    onShow(index);
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label={i18n._('Categories')} onKeyDown={onKeyDown}>
      {tabs.map(([icon, label], index) => (
        <button
          key={label}
          type="button"
          role="tab"
          className={styles.tab}
          aria-label={label}
          title={label}
          aria-selected={index === shown}
          aria-controls={listId}
          tabIndex={index === (shown ?? 0) ? 0 : -1}
          onClick={() => onShow(index)}
        >
          {icon}
        </button>
      ))}
    </div>
  );
}
