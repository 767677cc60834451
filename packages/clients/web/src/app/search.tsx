import { useLingui } from '@lingui/react';
import { type ChatState, formatSearch, isSearch, type Narrow } from '@parley/chat';
import { type FormEvent, useRef, useState } from 'react';
import type { SuggestionsHandle } from '../conversation/search-suggestions.js';
import { isWord } from '../editor/destination-heading.js';
import { Search as SearchIcon } from '../icons/icons.js';
import { useAddress, useComputed, useServices } from '../services/context.js';
import { retrying, useLoaded } from '../services/loading.js';
import type { Place } from '../services/location.js';
import styles from './app.module.css';

const NO_NARROW: Narrow = [];
const NO_FILTERS: readonly string[] = [];

/** Texts of the filters, such as `sender:Iago`. */
const filtersOf = (state: ChatState, narrow: Narrow): readonly string[] => [
  ...new Set(narrow.filter((term) => !isWord(term)).map((term) => formatSearch(state, [term]))),
];

const loadSuggestions = () => import('../conversation/search-suggestions.js');

/** Search of the current place, with unsubmitted changes to its filters and scope. Navigation discards the changes. */
function useQuery() {
  const { chat } = useServices();
  const place = useAddress();
  const { address, hash } = place;
  const narrow = address?.view === 'narrow' ? address.narrow : NO_NARROW;
  const isResult = isSearch(narrow);
  const searched = useComputed(() => (isResult ? formatSearch(chat.state, narrow) : ''), [chat, hash]);
  const words = useComputed(() => (isResult ? formatSearch(chat.state, narrow.filter(isWord)) : ''), [chat, hash]);
  const found = useComputed(() => (isResult ? filtersOf(chat.state, narrow) : NO_FILTERS), [chat, hash]);
  /** Changed filters, and the visit during which the user changed them. */
  const [chosen, setChosen] = useState<{ readonly at: Place; readonly filters: readonly string[] } | null>(null);
  /** Visit during which the user has widened the search to everything. */
  const [widened, setWidened] = useState<Place | null>(null);
  return {
    isResult,
    searched,
    words,
    filters: chosen?.at === place ? chosen.filters : found,
    choose: (filters: readonly string[]) => setChosen({ at: place, filters }),
    scope: isResult || widened === place ? NO_NARROW : narrow,
    widen: () => setWidened(place),
  };
}

/** Field that searches all messages or the current conversation; keeps the last search. */
export function Search() {
  const { i18n } = useLingui();
  const services = useServices();
  const query = useQuery();
  const { searched, words, filters, scope, choose, widen } = query;
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);
  /** Null while no suggestions are visible. */
  const [typed, setTyped] = useState<string | null>(null);
  const suggestions = useRef<SuggestionsHandle>(null);
  const loaded = useLoaded(loadSuggestions, typed !== null || query.isResult);
  const isAllSelected = useRef(false);
  const keys = loaded?.filterKeys(query, services.chat.state, isAllSelected);
  const hasChips = loaded !== null && (filters.length > 0 || (typed !== null && scope.length > 0));
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = [...filters, new FormData(event.currentTarget).get('search')].join(' ').trim();
    if (text === '') return;
    setTyped(null);
    const { searchFor } = await retrying(loadSuggestions);
    const result = searchFor(services, text, scope, i18n);
    if ('problem' in result) setProblem(result.problem);
    else services.navigation.navigate(result.href);
  };
  return (
    <search className={styles.search} data-chips={hasChips || undefined}>
      <form onSubmit={submit}>
        <span className={styles.searchField}>
          <input
            // Navigation discards unsubmitted text.
            key={searched}
            name="search"
            type="search"
            ref={field}
            role="combobox"
            aria-expanded={loaded !== null && typed !== null}
            autoComplete="off"
            defaultValue={words}
            onFocus={({ currentTarget }) => setTyped(currentTarget.value)}
            onBlur={() => setTyped(null)}
            onKeyDown={(event) => {
              keys?.onKeyDown(event);
              suggestions.current?.onKeyDown(event);
            }}
            onChange={({ currentTarget }) => {
              setProblem('');
              keys?.change(currentTarget);
              setTyped(currentTarget.value);
            }}
            aria-label={i18n._('Search')}
            aria-describedby={hasChips ? 'search-chips' : undefined}
            placeholder={i18n._('Search')}
          />
          {/* Follows the field because it changes the field's padding. */}
          {hasChips && (
            <loaded.SearchChips
              field={field}
              scope={typed === null ? NO_NARROW : scope}
              filters={filters}
              onWiden={widen}
              onRemove={(filter) => choose(filters.filter((it) => it !== filter))}
            />
          )}
          <SearchIcon className={styles.searchIcon} size={17} aria-hidden />
        </span>
        {loaded && typed !== null && problem === '' && (
          <loaded.SearchSuggestions
            field={field}
            text={typed}
            filters={filters}
            scope={scope}
            onClose={() => setTyped(null)}
            ref={suggestions}
          />
        )}
        {problem !== '' && <Problem text={problem} />}
      </form>
    </search>
  );
}

const Problem = ({ text }: { readonly text: string }) => (
  <p className={styles.problem} role="alert">
    {text}
  </p>
);
