import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { useServices } from '../services/context.js';
import { isComposing } from '../services/letter-keys.js';
import { readStored, store } from '../services/storage.js';
import { useReading } from '../services/use-reading.js';
import styles from './emoji-grid.module.css';
import { type EmojiEntry, useEmojiNames } from './emoji-names.js';
import { parseRecent, recentFirst, withPicked } from './recent-emoji.js';

interface Props {
  readonly label: string;
  onPick(emoji: EmojiEntry): void;
}

const COLUMNS = 7;
const ROW_HEIGHT = 44;

/** Grid of all emoji with a search by parts of names. The field keeps the focus while arrow keys select. */
export function EmojiGrid({ label, onPick: onPicked }: Props) {
  const { i18n } = useLingui();
  const { recent, remember } = useRecent();
  const emoji = useEmojiNames();
  const listId = useId();
  const entries = useReading(emoji.entries);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const [frame, setFrame] = useState<HTMLElement | null>(null);
  useEffect(() => void emoji.load(), [emoji]);
  const found = useMemo(() => search(recentFirst(entries, recent), query), [entries, recent, query]);
  const onPick = (entry: EmojiEntry) => {
    remember(entry);
    onPicked(entry);
  };
  const rows = useVirtualizer({
    count: Math.ceil(found.length / COLUMNS),
    getScrollElement: () => frame,
    estimateSize: () => ROW_HEIGHT,
    overscan: 2,
  });
  const chosen = found[active];
  const go = (index: number) => {
    const next = Math.max(0, Math.min(found.length - 1, index));
    setActive(next);
    rows.scrollToIndex(Math.floor(next / COLUMNS));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS }[event.key];
    if (event.key === 'Enter') {
      if (chosen) onPick(chosen);
    } else if (step !== undefined) go(active + step);
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.picker}>
      <input
        type="search"
        role="combobox"
        className={styles.search}
        aria-label={i18n._('Search emoji')}
        placeholder={i18n._('Search emoji')}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={chosen && `${listId}-${active}`}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={setFrame} className={styles.frame} id={listId} role="listbox" aria-label={label} tabIndex={0}>
        <div role="presentation" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index: row, start }) => (
            <div key={row} role="presentation" className={styles.row} style={{ transform: `translateY(${start}px)` }}>
              {found.slice(row * COLUMNS, (row + 1) * COLUMNS).map((entry, column) => (
                <Option
                  key={`${entry.reaction_type} ${entry.emoji_code}`}
                  id={`${listId}-${row * COLUMNS + column}`}
                  entry={entry}
                  isActive={row * COLUMNS + column === active}
                  onPick={onPick}
                />
              ))}
            </div>
          ))}
        </div>
        {found.length === 0 && <p className={styles.none}>{i18n._('No emoji found')}</p>}
      </div>
      <p className={styles.name} role="status">
        {chosen && `:${chosen.emoji_name}:`}
      </p>
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly entry: EmojiEntry;
  readonly isActive: boolean;
  onPick(emoji: EmojiEntry): void;
}

function Option({ id, entry, isActive, onPick }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the search field names the active option.
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      aria-label={`:${entry.emoji_name}:`}
      title={`:${entry.emoji_name}:`}
      className={styles.option}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onPick(entry)}
    >
      {entry.imageUrl === null ? entry.character : <img src={entry.imageUrl} alt="" width={24} height={24} />}
    </div>
  );
}

/** Emoji recently picked by the user in this browser. */
function useRecent() {
  const { baseUrl, chat } = useServices();
  const key = `parley-recent-emoji:${baseUrl}:${chat.state.selfId}`;
  // The order stays while the picker is open.
  const [recent] = useState(() => parseRecent(readStored(key)));
  const remember = (entry: EmojiEntry) => store(key, JSON.stringify(withPicked(parseRecent(readStored(key)), entry)));
  return { recent, remember };
}

function search(entries: readonly EmojiEntry[], query: string): readonly EmojiEntry[] {
  if (query.trim() === '') return entries;
  const rank = (entry: EmojiEntry) => Math.min(...entry.names.map((name) => rankOf(query, name) ?? Infinity));
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter(({ rank: found }) => found < Infinity)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}
