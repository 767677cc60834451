// Filters of the search field, loaded with its suggestions.

import { useLingui } from '@lingui/react';
import { type ChatState, destinationOf, formatSearch, type Narrow, parseSearch, UnclearName } from '@parley/chat';
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from 'react';
import styles from '../editor/completion.module.css';
import { onlyChannel } from '../editor/destination-heading.js';
import { X } from '../icons/icons.js';
import { mounted } from '../kit/mounted.js';

/** Filter at the end of a text, followed by white space. */
const FINISHED_FILTER = /(?:^|\s)(-?[a-z-]+:(?:"[^"]+"|[^\s"]+))\s$/i;

interface TakenFilter {
  /** Filter as in the results, such as `sender:Iago`. */
  readonly chip: string;
  readonly text: string;
  /** Position of the cursor in the text. */
  readonly cursor: number;
}

/** Keys that end the selection of everything. */
const MOVES = /^(?:Arrow|Home|End|Escape|Enter|Tab)/;

interface Query {
  readonly filters: readonly string[];
  choose(filters: readonly string[]): void;
  /** Extends the search from the current place to everything. */
  widen(): void;
}

/**
 * Handlers that move finished filters from the text to chips, and remove chips on Backspace and after Ctrl+A.
 * @param isAllSelected true after Ctrl+A: the next change replaces the filters too
 */
export function filterKeys({ filters, choose, widen }: Query, state: ChatState, isAllSelected: { current: boolean }) {
  return {
    change: (input: HTMLInputElement) => {
      const kept = isAllSelected.current ? [] : filters;
      const taken = takeFilter(state, input.value, input.selectionEnd ?? 0);
      if (taken) {
        input.value = taken.text;
        input.setSelectionRange(taken.cursor, taken.cursor);
      }
      if (taken || isAllSelected.current) choose([...new Set([...kept, ...(taken ? [taken.chip] : [])])]);
      isAllSelected.current = false;
    },
    onKeyDown: ({ key, ctrlKey, metaKey, currentTarget }: KeyboardEvent<HTMLInputElement>) => {
      if (key === 'Backspace' && currentTarget.selectionEnd === 0) {
        if (filters.length === 0) widen();
        else choose(isAllSelected.current ? [] : filters.slice(0, -1));
      }
      if (key === 'a' && (ctrlKey || metaKey)) isAllSelected.current = true;
      else if (MOVES.test(key)) isAllSelected.current = false;
    },
  };
}

/** Takes the filter before the cursor out of a text; null if it is unfinished or its name is unclear. */
function takeFilter(state: ChatState, text: string, cursor: number): TakenFilter | null {
  const found = FINISHED_FILTER.exec(text.slice(0, cursor));
  const chip = found && chipOf(state, found[1]!);
  if (!found || chip === null) return null;
  const before = text.slice(0, found.index);
  const start = before === '' ? '' : `${before} `;
  return { chip, text: start + text.slice(cursor), cursor: start.length };
}

function chipOf(state: ChatState, part: string): string | null {
  try {
    const address = parseSearch(state, part);
    const [term, ...others] = address.view === 'narrow' ? address.narrow : [];
    if (!term || others.length > 0 || term.operator === 'search') return null;
    return formatSearch(state, [term]);
  } catch (error) {
    if (error instanceof UnclearName) return null;
    throw error;
  }
}

const CHIP_GAP_PX = 10;

interface Props {
  /** Search field, which is indented by the width of the chips. */
  readonly field: RefObject<HTMLInputElement | null>;
  /** Narrow to search in; empty for everything. */
  readonly scope: Narrow;
  readonly filters: readonly string[];
  onWiden(): void;
  onRemove(filter: string): void;
}

/** Scope and filters of the search; a click removes them. */
export function SearchChips({ field, scope, filters, onWiden, onRemove }: Props) {
  const { i18n } = useLingui();
  const chips = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const { style } = mounted(field);
    const width = mounted(chips).offsetWidth;
    style.paddingInlineStart = width === 0 ? '' : `${width + CHIP_GAP_PX}px`;
    // The newest filter stays visible.
    mounted(chips).scrollLeft = mounted(chips).scrollWidth;
    return () => {
      style.paddingInlineStart = '';
    };
  });
  const remove = (filter: string) => {
    onRemove(filter);
    mounted(field).focus();
  };
  const scopeText =
    destinationOf(scope)?.kind === 'channel'
      ? i18n._('in this topic')
      : onlyChannel(scope) !== null
        ? i18n._('in this channel')
        : i18n._('in this view');
  return (
    <span ref={chips} id="search-chips" className={styles.chips}>
      {scope.length > 0 && <Chip text={scopeText} title={i18n._('Search everywhere')} onRemove={onWiden} />}
      {filters.map((filter) => (
        <Chip key={filter} text={filter} title={i18n._('Remove this filter')} onRemove={() => remove(filter)} />
      ))}
    </span>
  );
}

function Chip({ text, title, onRemove }: { readonly text: string; readonly title: string; onRemove(): void }) {
  return (
    <button
      type="button"
      className={styles.chip}
      // Backspace in the field removes it.
      tabIndex={-1}
      title={title}
      // Keeps the focus in the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onRemove}
    >
      <span>{text}</span> <X size={12} aria-hidden />
    </button>
  );
}
