import { useLingui } from '@lingui/react';
import { type MouseEvent, useEffect } from 'react';
import { Menu, Search } from '../icons/icons.js';
import { UnreadBadge } from '../kit/badge.js';
import kit from '../kit/kit.module.css';
import { useChat, useIsCurrent } from '../services/context.js';
import { type SidebarView, useViews } from '../sidebar/views.js';
import { watchKeyboard } from './keyboard.js';
import styles from './phone.module.css';

interface Props {
  readonly isMenuOpen: boolean;
  onMenu(): void;
}

/** Views within reach of a thumb; the others are in the list of conversations. */
const FRAGMENTS = ['inbox', 'recent', 'narrow/is/mentioned'];

/** Navigation at the lower edge of touch screens, hidden while the keyboard is open. */
export function BottomBar({ isMenuOpen, onMenu }: Props) {
  const { i18n } = useLingui();
  const { isVisitor } = useChat();
  useEffect(watchKeyboard, []);
  return (
    <nav className={styles.bar} aria-label={i18n._('Views')}>
      <button type="button" aria-label={i18n._('Conversations')} aria-expanded={isMenuOpen} onClick={onMenu} data-menu>
        <Menu size={22} aria-hidden />
      </button>
      {!isVisitor && <Views />}
      <button type="button" className={styles.search} aria-label={i18n._('Search')} onClick={focusSearch}>
        <Search size={22} aria-hidden />
      </button>
    </nav>
  );
}

function focusSearch({ currentTarget }: MouseEvent<HTMLElement>): void {
  const page = currentTarget.getRootNode() as Document | ShadowRoot;
  page.querySelector<HTMLElement>('main input[type="search"]')?.focus();
}

const Views = () =>
  useViews()
    .filter(({ fragment }) => FRAGMENTS.includes(fragment))
    .map((view) => <ViewLink key={view.href} view={view} />);

function ViewLink({ view: { href, icon: Icon, label, count } }: { readonly view: SidebarView }) {
  const isCurrent = useIsCurrent(href);
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon size={22} />
      <span className={kit.hiddenText}>{label} </span>
      <UnreadBadge count={count} />
    </a>
  );
}
