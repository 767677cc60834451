import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { Avatar } from '../kit/avatar.js';
import { Emoji } from '../kit/emoji.js';
import { useChat } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import { openPersonCard } from './open-card.js';
import styles from './people.module.css';
import { PresenceDot } from './presence-dot.js';

const ROW_HEIGHT = 44;
const MAX_HEIGHT = 360;

interface Props {
  readonly userIds: readonly number[];
  readonly label: string;
  /** True to fill the room that its parent gives. */
  readonly isFilling?: boolean;
}

/** People with their presence; draws only the rows on screen. */
export function PeopleList({ userIds, label, isFilling = false }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: userIds.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => userIds[index]!,
    overscan: 6,
  });
  return (
    <div
      ref={frame}
      className={isFilling ? styles.filling : styles.frame}
      style={{ maxHeight: isFilling ? undefined : MAX_HEIGHT }}
    >
      <ul className={styles.list} style={{ height: rows.getTotalSize() }} aria-label={label}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <li
            key={userIds[index]}
            className={styles.item}
            style={{ transform: `translateY(${start}px)` }}
            aria-setsize={userIds.length}
            aria-posinset={index + 1}
          >
            <PersonButton userId={userIds[index]!} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function PersonButton({ userId }: { readonly userId: number }) {
  const person = useReading(useChat().people.person(userId));
  return (
    <button
      type="button"
      className={styles.person}
      aria-haspopup="dialog"
      onClick={({ currentTarget }) => openPersonCard(currentTarget, userId)}
    >
      <Avatar url={person.avatarUrl} name={person.name} size={28} />
      <span className={styles.names}>
        <span className={styles.name}>
          <span className={styles.nameText}>{person.name}</span>
          {person.statusEmoji && <Emoji {...person.statusEmoji} />}
        </span>
        {person.statusText !== '' && <span className={styles.status}>{person.statusText}</span>}
      </span>
      {!person.isBot && <PresenceDot presence={person.presence} />}
    </button>
  );
}
