import { useLingui } from '@lingui/react';
import { type MouseEvent, type ReactNode, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { ChevronDown, ChevronLeft, ChevronUp } from '../icons/icons.js';
import { IconButton, type IconButtonProps } from '../kit/icon-button.js';
import { reportFailure } from '../services/failures.js';
import styles from './managing.module.css';

export function Missing({ kind }: { readonly kind?: 'channel' | 'group' | 'for administrators' }) {
  const { i18n } = useLingui();
  return (
    <p className={styles.empty}>
      {kind === 'channel' ? (
        <>
          {i18n._('There is no channel at this address, or you are not allowed to see it.')}{' '}
          <a href="#channels/all">{i18n._('Channels')}</a>
        </>
      ) : kind === 'group' ? (
        <>
          {i18n._('There is no group at this address.')} <a href="#groups/all">{i18n._('Groups')}</a>
        </>
      ) : kind === 'for administrators' ? (
        <>
          {i18n._('This page is for administrators only.')}{' '}
          <a href="#organization">{i18n._('Organization settings')}</a>
        </>
      ) : (
        <>
          {i18n._('There is no such page.')} <a href="#inbox">{i18n._('Inbox')}</a>
        </>
      )}
    </p>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Field that filters a list. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <input
      type="search"
      className={styles.filter}
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface HeadingProps {
  readonly title?: ReactNode;
  /** Search field that replaces the title. */
  readonly search?: ReactNode;
  /** Parent list of the page. */
  readonly back?: { readonly href: string; readonly label: string };
  readonly children?: ReactNode;
}

/** Page title with buttons. */
export function Heading({ title, search, back, children }: HeadingProps) {
  return (
    <div className={styles.heading}>
      {back && (
        <a className={styles.back} href={back.href}>
          <ChevronLeft size={16} aria-hidden /> {back.label}
        </a>
      )}
      {search ?? <h2>{title}</h2>}
      <span className={styles.headingButtons}>{children}</span>
    </div>
  );
}

export interface Tab {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.isCurrent ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
}

interface LineProps {
  readonly title: ReactNode;
  readonly detail?: ReactNode;
  readonly picture?: ReactNode;
  /** Buttons. */
  readonly children?: ReactNode;
}

/** List entry. */
export function Line({ title, detail, picture, children }: LineProps) {
  return (
    <li className={styles.line}>
      {picture}
      <span className={styles.lineMain}>
        <span className={styles.lineTitle}>{title}</span>
        {detail !== undefined && <span className={styles.lineDetail}>{detail}</span>}
      </span>
      {children}
    </li>
  );
}

interface MoveProps {
  readonly name: string;
  readonly index: number;
  readonly count: number;
  onMove(step: 1 | -1): void;
}

/** Buttons that move a list entry. At the end of the list, the focus moves to the remaining button. */
export function MoveButtons({ name, index, count, onMove }: MoveProps) {
  const { i18n } = useLingui();
  const move = ({ currentTarget: button }: MouseEvent<HTMLButtonElement>, step: 1 | -1) => {
    flushSync(() => onMove(step));
    const other = step < 0 ? button.nextElementSibling : button.previousElementSibling;
    if (button.disabled) (other as HTMLElement).focus();
  };
  return (
    <>
      <IconButton
        icon={ChevronUp}
        label={i18n._('Move {name} up', { name })}
        isDisabled={index === 0}
        onClick={(event) => move(event, -1)}
      />
      <IconButton
        icon={ChevronDown}
        label={i18n._('Move {name} down', { name })}
        isDisabled={index === count - 1}
        onClick={(event) => move(event, 1)}
      />
    </>
  );
}

interface SayingProps extends Pick<IconButtonProps, 'icon' | 'label'> {
  /** Success text. */
  readonly done: string;
  onClick(): Promise<unknown>;
}

/** Button without a visible effect; shows a text for two seconds after success. */
export function SayingButton({ done, onClick, ...button }: SayingProps) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <>
      <span className={styles.hint} role="status">
        {isDone && done}
      </span>
      <IconButton {...button} onClick={() => void onClick().then(() => setDone(true), reportFailure)} />
    </>
  );
}
