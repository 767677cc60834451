import { useLingui } from '@lingui/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type HTMLAttributes, type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { useServices } from '../services/context.js';
import { isComposing } from '../services/letter-keys.js';
import { useLoaded } from '../services/loading.js';
import { readStored, store } from '../services/storage.js';
import { useReading } from '../services/use-reading.js';
import { characterOf } from './emoji-character.js';
import { GROUPS, TONED, wordsIn } from './emoji-data.js';
import styles from './emoji-grid.module.css';
import { type EmojiEntry, POPULAR_CODES, useEmojiNames } from './emoji-names.js';
import { searchable, searchEmoji } from './emoji-search.js';
import { EmojiTabs } from './emoji-tabs.js';
import { withTone } from './emoji-tone.js';
import { keyOf, parseRecent, recentFirst, withPicked } from './recent-emoji.js';

interface Props {
  readonly label: string;
  /** True to offer skin tones, which only texts can contain (markdown §13). */
  readonly hasTones?: boolean;
  onPick(emoji: EmojiEntry): void;
}

const COLUMNS = 7;
const ROW_HEIGHT = 44;
/** Modifiers of Unicode, from light to dark. */
const TONES = ['1f3fb', '1f3fc', '1f3fd', '1f3fe', '1f3ff'];
const RAISED_HAND = '270b';

/** Grid of all emoji by category, with a search by parts of names. The field keeps the focus while arrow keys select. */
export function EmojiGrid({ label, hasTones = false, onPick: onPicked }: Props) {
  const { i18n } = useLingui();
  const { recent, remember } = useRecent();
  const [tone, setTone] = useTone();
  const emoji = useEmojiNames();
  const listId = useId();
  const entries = useReading(emoji.entries);
  const [{ query, category }, setShown] = useState({ query: '', category: 0 });
  const [active, setActive] = useState(0);
  useEffect(() => void emoji.load(), [emoji]);
  const ordered = useMemo(() => inOrder(entries), [entries]);
  const all = useMemo(() => recentFirst(ordered, [...recent, ...POPULAR]), [ordered, recent]);
  const { nameOf, search } = useWords(all);
  const isSearch = query.trim() !== '';
  const found = useMemo(
    () => (isSearch ? search(query) : category === 0 ? all : shownIn(category, ordered)),
    [all, ordered, search, isSearch, query, category],
  );
  const chosen = found[active];
  const show = (shown: { readonly query: string; readonly category: number }) => {
    setShown(shown);
    setActive(0);
  };
  const draw = (entry: EmojiEntry): EmojiEntry => (hasTones ? inTone(entry, tone) : entry);
  const onPick = (entry: EmojiEntry) => {
    remember(entry);
    onPicked(draw(entry));
  };
  const listProps = {
    'aria-activedescendant': chosen && `${listId}-${active}`,
    onKeyDown: (event: KeyboardEvent) => {
      if (isComposing(event.nativeEvent)) return;
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS }[event.key];
      if (step !== undefined) setActive(Math.max(0, Math.min(found.length - 1, active + step)));
      else if (event.key !== 'Enter') return;
      else if (chosen) onPick(chosen);
      event.preventDefault();
    },
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
        value={query}
        onChange={(event) => show({ query: event.target.value, category: 0 })}
        {...listProps}
      />
      <EmojiTabs
        listId={listId}
        shown={isSearch ? null : category}
        customUrl={entries.find(isCustom)?.imageUrl ?? null}
        onShow={(shown) => show({ query: '', category: shown })}
      />
      <EmojiList
        listProps={{ ...listProps, id: listId, 'aria-label': label }}
        found={found}
        active={active}
        draw={draw}
        onPick={onPick}
      />
      <div className={styles.foot}>
        <p className={styles.name} role="status">
          {chosen && `:${chosen.emoji_name}: ${nameOf(chosen)}`}
        </p>
        {hasTones && <ToneChoice tone={tone} onChoose={setTone} />}
      </div>
    </div>
  );
}

interface ListProps {
  readonly listProps: HTMLAttributes<HTMLElement> & { readonly id: string };
  readonly found: readonly EmojiEntry[];
  readonly active: number;
  draw(entry: EmojiEntry): EmojiEntry;
  onPick(entry: EmojiEntry): void;
}

function EmojiList({ listProps, found, active, draw, onPick }: ListProps) {
  const { i18n } = useLingui();
  const [frame, setFrame] = useState<HTMLElement | null>(null);
  const rows = useVirtualizer({
    count: Math.ceil(found.length / COLUMNS),
    getScrollElement: () => frame,
    estimateSize: () => ROW_HEIGHT,
    overscan: 2,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list is shown from its start.
  useEffect(() => rows.scrollToIndex(Math.floor(active / COLUMNS)), [rows, active, found]);
  return (
    <div {...listProps} ref={setFrame} className={styles.frame} role="listbox" tabIndex={0}>
      <div role="presentation" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index: row, start }) => (
          <div key={row} role="presentation" className={styles.row} style={{ transform: `translateY(${start}px)` }}>
            {found.slice(row * COLUMNS, (row + 1) * COLUMNS).map((entry, column) => (
              <Option
                key={`${entry.reaction_type} ${entry.emoji_code}`}
                id={`${listProps.id}-${row * COLUMNS + column}`}
                entry={draw(entry)}
                isActive={row * COLUMNS + column === active}
                onPick={() => onPick(entry)}
              />
            ))}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className={styles.none}>{i18n._('No emoji found')}</p>}
    </div>
  );
}

interface ToneProps {
  readonly tone: string;
  onChoose(tone: string): void;
}

function ToneChoice({ tone, onChoose }: ToneProps) {
  const { i18n } = useLingui();
  return (
    <select
      className={styles.tone}
      aria-label={i18n._('Skin tone')}
      title={i18n._('Skin tone')}
      value={tone}
      onChange={({ target }) => onChoose(target.value)}
    >
      {['', ...TONES].map((each) => (
        <option key={each} value={each}>
          {characterOf(each === '' ? RAISED_HAND : withTone(RAISED_HAND, each))}
        </option>
      ))}
    </select>
  );
}

interface OptionProps {
  readonly id: string;
  readonly entry: EmojiEntry;
  readonly isActive: boolean;
  onPick(): void;
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
      onClick={onPick}
    >
      {entry.imageUrl === null ? entry.character : <img src={entry.imageUrl} alt="" width={24} height={24} />}
    </div>
  );
}

const isCustom = ({ reaction_type: type }: EmojiEntry): boolean => type === 'realm_emoji';

const POPULAR = POPULAR_CODES.map((code) => keyOf({ reaction_type: 'unicode_emoji', emoji_code: code }));
const PLACES = new Map(GROUPS.flat().map((code, place) => [code, place]));

/** Custom emoji, then Unicode emoji in Unicode's order. */
function inOrder(entries: readonly EmojiEntry[]): readonly EmojiEntry[] {
  const placeOf = (entry: EmojiEntry) => (isCustom(entry) ? -1 : (PLACES.get(entry.emoji_code) ?? PLACES.size));
  return [...entries].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Emoji of a Unicode category, or custom emoji. */
function shownIn(category: number, entries: readonly EmojiEntry[]): readonly EmojiEntry[] {
  const codes = GROUPS[category - 1];
  return entries.filter((entry) => (codes ? codes.includes(entry.emoji_code) : isCustom(entry)));
}

function inTone(entry: EmojiEntry, tone: string): EmojiEntry {
  const { emoji_code: code } = entry;
  if (tone === '' || isCustom(entry) || !TONED.includes(code)) return entry;
  return { ...entry, character: characterOf(withTone(code, tone)), isToned: true };
}

/** Emoji names in the reader's language, and a search by names. */
function useWords(all: readonly EmojiEntry[]) {
  const { i18n } = useLingui();
  const words = useLoaded(wordsIn(i18n.locale))?.default ?? null;
  return useMemo(() => {
    const emoji = searchable(all, words, i18n.locale);
    const names = new Map(emoji.map(({ entry, words: [name = ''] }) => [entry, name]));
    return {
      nameOf: (entry: EmojiEntry) => names.get(entry) ?? '',
      search: (query: string) => searchEmoji(emoji, query),
    };
  }, [all, words, i18n.locale]);
}

/** Emoji recently picked by the user in this browser. */
function useRecent() {
  const key = `parley-recent-emoji:${useUserKey()}`;
  // The order stays while the picker is open.
  const [recent] = useState(() => parseRecent(readStored(key)));
  const remember = (entry: EmojiEntry) => store(key, JSON.stringify(withPicked(parseRecent(readStored(key)), entry)));
  return { recent, remember };
}

/** Skin tone chosen by the user in this browser; empty for the neutral one. */
function useTone(): readonly [tone: string, setTone: (tone: string) => void] {
  const key = `parley-skin-tone:${useUserKey()}`;
  const [tone, setTone] = useState(() => TONES.find((each) => each === readStored(key)) ?? '');
  return [
    tone,
    (next) => {
      setTone(next);
      store(key, next === '' ? null : next);
    },
  ];
}

function useUserKey(): string {
  const { baseUrl, chat } = useServices();
  return `${baseUrl}:${chat.state.selfId}`;
}
