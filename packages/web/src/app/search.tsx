import { useLingui } from '@lingui/react';
import { formatSearch, isSearch, type Narrow } from '@parley/chat';
import { Search as SearchIcon } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import type { SuggestionsHandle } from '../conversation/search-suggestions.js';
import { useAddress, useComputed, useServices } from '../services/context.js';
import { retrying, useLoaded } from '../services/loading.js';
import type { Place } from '../services/location.js';
import styles from './app.module.css';

const NO_NARROW: Narrow = [];
const loadSuggestions = () => import('../conversation/search-suggestions.js');

/** Field that searches all messages or the current conversation; keeps the last search. */
export function Search() {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat, navigation } = services;
  const place = useAddress();
  const { address, hash } = place;
  const narrow = address?.view === 'narrow' ? address.narrow : NO_NARROW;
  const isResult = isSearch(narrow);
  const searched = useComputed(() => (isResult ? formatSearch(chat.state, narrow) : ''), [chat, hash]);
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);
  /** Null while no suggestions are visible. */
  const [typed, setTyped] = useState<string | null>(null);
  const suggestions = useRef<SuggestionsHandle>(null);
  const loaded = useLoaded(loadSuggestions, typed !== null);
  /** Visit during which the user has widened the search to everything. */
  const [widened, setWidened] = useState<Place | null>(null);
  const scope = isResult || widened === place ? NO_NARROW : narrow;
  const widen = () => setWidened(place);
  const isScoped = loaded !== null && typed !== null && scope.length > 0;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('search')).trim();
    if (text === '') return;
    setTyped(null);
    const { searchFor } = await retrying(loadSuggestions);
    const found = searchFor(services, text, scope, i18n);
    if ('problem' in found) setProblem(found.problem);
    else navigation.navigate(found.href);
  };
  return (
    <search className={styles.search}>
      <form onSubmit={submit}>
        <span className={styles.searchField}>
          {isScoped && <loaded.ScopeButton field={field} scope={scope} onWiden={widen} />}
          <input
            // Navigation discards unsubmitted text.
            key={searched}
            name="search"
            type="search"
            ref={field}
            role="combobox"
            aria-expanded={loaded !== null && typed !== null}
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
            aria-describedby={isScoped ? 'scope' : undefined}
            placeholder={i18n._('Search')}
          />
          <SearchIcon className={styles.searchIcon} size={17} aria-hidden />
        </span>
        {loaded && typed !== null && problem === '' && (
          <loaded.SearchSuggestions
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
