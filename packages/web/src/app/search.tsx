import { useLingui } from '@lingui/react';
import { destinationOf, formatSearch, isSearch, type Narrow } from '@parley/chat';
import { Search as SearchIcon, X } from 'lucide-react';
import { type FormEvent, type Ref, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { onlyChannel } from '../conversation/destination-heading.js';
import type { SuggestionsHandle } from '../conversation/search-suggestions.js';
import { useAddress, useComputed, useServices } from '../services/context.js';
import { retrying, useLoaded } from '../services/loading.js';
import styles from './app.module.css';

const NO_NARROW: Narrow = [];
const CHIP_GAP_PX = 10;
const loadSuggestions = () => import('../conversation/search-suggestions.js').then((it) => it.SearchSuggestions);

/** Field that searches all messages or the current conversation; keeps the last search. */
export function Search() {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const { address, hash } = useAddress();
  const narrow = address?.view === 'narrow' ? address.narrow : NO_NARROW;
  const isResult = isSearch(narrow);
  const searched = useComputed(() => (isResult ? formatSearch(chat.state, narrow) : ''), [chat, hash]);
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const scopeId = useId();
  /** Null while no suggestions are visible. */
  const [typed, setTyped] = useState<string | null>(null);
  const suggestions = useRef<SuggestionsHandle>(null);
  const SearchSuggestions = useLoaded(loadSuggestions, typed !== null);
  const [isWide, setWide] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each place starts with its scope.
  useEffect(() => setWide(false), [hash]);
  const scope = isResult || isWide ? NO_NARROW : narrow;
  const chip = useRef<HTMLButtonElement>(null);
  const isScoped = typed !== null && scope.length > 0;
  useLayoutEffect(() => {
    field.current!.style.paddingInlineStart = isScoped ? `${chip.current!.offsetWidth + CHIP_GAP_PX}px` : '';
  }, [isScoped]);
  const widen = () => setWide(true);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('search')).trim();
    if (text === '') return;
    setTyped(null);
    const { searchFor } = await retrying(() => import('../conversation/search-suggestions.js'));
    const found = searchFor(chat, text, scope, i18n);
    if ('problem' in found) setProblem(found.problem);
    else navigation.navigate(found.href);
  };
  return (
    <search className={styles.search}>
      <form onSubmit={submit}>
        <span className={styles.searchField}>
          {isScoped && <ScopeButton ref={chip} id={scopeId} scope={scope} onWiden={widen} />}
          <input
            // Navigation discards unsubmitted text.
            key={searched}
            name="search"
            type="search"
            ref={field}
            role="combobox"
            aria-expanded={SearchSuggestions !== null && typed !== null}
            autoComplete="off"
            defaultValue={searched}
            onFocus={({ currentTarget }) => setTyped(currentTarget.value)}
            onBlur={() => setTyped(null)}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' && event.currentTarget.value === '') widen();
              suggestions.current?.onKeyDown(event);
            }}
            onChange={({ currentTarget }) => {
              setProblem('');
              setTyped(currentTarget.value);
            }}
            aria-label={i18n._('Search')}
            aria-describedby={isScoped ? scopeId : undefined}
            placeholder={i18n._('Search')}
            title={i18n._('Words, and operators such as from:me, has:link, is:starred, channel:"name", -topic:"name"')}
          />
          <SearchIcon className={styles.searchIcon} size={17} aria-hidden />
        </span>
        {SearchSuggestions && typed !== null && problem === '' && (
          <SearchSuggestions
            field={field}
            text={typed}
            scope={scope}
            onClose={() => setTyped(null)}
            ref={suggestions}
          />
        )}
        {problem !== '' && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
      </form>
    </search>
  );
}

interface ScopeProps {
  readonly ref: Ref<HTMLButtonElement>;
  /** Id of the text. */
  readonly id: string;
  readonly scope: Narrow;
  onWiden(): void;
}

/** Names the place in which a search looks, and widens it to everywhere. */
function ScopeButton({ ref, id, scope, onWiden }: ScopeProps) {
  const { i18n } = useLingui();
  const text =
    destinationOf(scope)?.kind === 'channel'
      ? i18n._('in this topic')
      : onlyChannel(scope) !== null
        ? i18n._('in this channel')
        : i18n._('in this view');
  return (
    <button
      ref={ref}
      type="button"
      className={styles.scope}
      tabIndex={-1}
      title={i18n._('Search everywhere')}
      // Keeps the focus in the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onWiden}
    >
      <span id={id}>{text}</span> <X size={12} aria-hidden />
    </button>
  );
}
