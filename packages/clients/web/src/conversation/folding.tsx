import { useLingui } from '@lingui/react';
import { type MouseEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { mounted } from '../kit/mounted.js';
import { readStored, store } from '../services/storage.js';
import styles from './message-row.module.css';

/** Opened messages that stay open when their rows appear again, also after a reload. */
const MAX_OPENED = 100;
const KEY = 'parley-opened-messages';
const opened = new Set(readStored(KEY)?.split(' ').map(Number));

/** Shows a message whole from now on. */
export function unfold(id: number): void {
  opened.add(id);
  store(KEY, [...opened].slice(-MAX_OPENED).join(' '));
}

interface Props {
  /** Message; null while the server has not accepted it. */
  readonly id: number | null;
  readonly children: ReactNode;
}

/** Shows the beginning of a tall content until the reader asks for the rest, or the browser scrolls to a part of it. */
export function Folding({ id, children }: Props) {
  const { i18n } = useLingui();
  const [isOpen, setOpen] = useState(id !== null && opened.has(id));
  const [isCut, setCut] = useState(false);
  const part = useRef<HTMLDivElement>(null);
  // The content may be another one after each rendering.
  useLayoutEffect(() => {
    const folded = mounted(part);
    // Links reach beyond the box of the content.
    const measure = () => setCut(!isOpen && folded.firstElementChild!.clientHeight > folded.clientHeight + 1);
    measure();
    // A shorter content cannot become too tall unless the window shrinks to a third.
    if (isOpen || folded.scrollHeight < innerHeight * 0.15) return;
    const observer = new ResizeObserver(measure);
    observer.observe(folded);
    return () => observer.disconnect();
  });
  const open = (scrollBy: number) => {
    const folded = mounted(part);
    const list = folded.closest('[data-messages]')!;
    const top = list.scrollTop + scrollBy;
    flushSync(() => setOpen(true));
    if (id !== null) unfold(id);
    // The list would keep its end in place. Its own observer comes first.
    const observer = new ResizeObserver(() => {
      list.scrollTop = top;
      observer.disconnect();
    });
    observer.observe(folded);
  };
  /** A search in the page, or the focus, has scrolled to a hidden part, which keeps its place. */
  const onScroll = () => {
    const { scrollTop } = mounted(part);
    if (scrollTop > 0) open(scrollTop);
  };
  const onClick = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // The clicked button disappears.
    currentTarget.closest<HTMLElement>('[data-key]')?.focus({ preventScroll: true });
    open(0);
  };
  return (
    <>
      <div
        ref={part}
        className={styles.folding}
        data-open={isOpen || undefined}
        data-cut={isCut || undefined}
        onScroll={onScroll}
      >
        {children}
      </div>
      {isCut && (
        <button type="button" className={styles.more} aria-keyshortcuts="-" onClick={onClick}>
          {i18n._('Show more')}
        </button>
      )}
    </>
  );
}
