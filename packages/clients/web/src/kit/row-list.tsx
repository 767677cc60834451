import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';
import styles from './row-list.module.css';

interface Props<K extends string | number> {
  readonly keys: readonly K[];
  readonly label: string;
  /** Expected row height in pixels; rows may be higher. */
  readonly rowHeight: number;
  /** Height above which the list scrolls; by default it fills its container. */
  readonly maxHeight?: number;
  readonly children: (key: K) => ReactNode;
}

/** List of any length; renders only visible rows. */
export function RowList<K extends string | number>({ keys, label, rowHeight, maxHeight, children }: Props<K>) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: keys.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keys[index]!,
    overscan: 6,
  });
  return (
    <div ref={frame} className={maxHeight === undefined ? styles.filling : styles.frame} style={{ maxHeight }}>
      <ul className={styles.list} style={{ height: rows.getTotalSize() }} aria-label={label}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <li
            key={keys[index]}
            ref={rows.measureElement}
            data-index={index}
            className={styles.item}
            style={{ transform: `translateY(${start}px)`, minHeight: rowHeight }}
            aria-setsize={keys.length}
            aria-posinset={index + 1}
          >
            {children(keys[index]!)}
          </li>
        ))}
      </ul>
    </div>
  );
}
