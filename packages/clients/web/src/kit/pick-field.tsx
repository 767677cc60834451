import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { X } from '../icons/icons.js';
import { useFind } from '../services/context.js';
import { isComposing } from '../services/letter-keys.js';
import { useListbox } from './listbox.js';
import styles from './pick-field.module.css';

export interface Pick {
  readonly key: string;
  readonly name: string;
  readonly detail?: string;
  readonly icon?: ReactNode;
}

interface Props {
  readonly label: string;
  readonly chosen: readonly Pick[];
  readonly options: readonly Pick[];
  onChange(keys: readonly string[]): void;
  readonly placeholder?: string;
  readonly isDisabled?: boolean;
  readonly describedBy?: string | undefined;
}

const MAX_SUGGESTIONS = 8;

/** Field for several people, groups or channels, found by parts of their names. */
export function PickField({ label, chosen, options, onChange, placeholder, isDisabled = false, describedBy }: Props) {
  const { i18n } = useLingui();
  const [query, setQuery] = useState('');
  useFind(query);
  const [isOpen, setOpen] = useState(false);
  const found = isOpen ? suggestions(options, chosen, query) : [];
  const keys = chosen.map(({ key }) => key);
  const listbox = useListbox({
    label,
    query,
    options: found,
    className: styles.options,
    keyOf: ({ key }) => key,
    draw: ({ icon, name, detail }) => (
      <>
        {icon}
        <bdi className={styles.name}>{name}</bdi>
        {detail !== undefined && <span className={styles.detail}>{detail}</span>}
      </>
    ),
    onPick: ({ key }) => {
      onChange([...keys, key]);
      setQuery('');
      setOpen(false);
    },
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (listbox.onKeyDown(event) || isComposing(event.nativeEvent)) return;
    if (event.key === 'ArrowDown') setOpen(true);
    else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      setOpen(false);
    } else if (event.key === 'Backspace' && query === '') onChange(keys.slice(0, -1));
    else if (event.key === 'Enter') event.preventDefault();
  };
  return (
    <div className={styles.field}>
      <div className={styles.chips} data-disabled={isDisabled || undefined}>
        {chosen.map(({ key, name, icon }) => (
          <span key={key} className={styles.chip}>
            {icon}
            <bdi>{name}</bdi>
            {!isDisabled && (
              <button
                type="button"
                aria-label={i18n._('Remove {name}', { name })}
                onClick={() => onChange(keys.filter((each) => each !== key))}
              >
                <X size={14} aria-hidden />
              </button>
            )}
          </span>
        ))}
        <input
          {...listbox.fieldProps}
          role="combobox"
          aria-label={label}
          aria-describedby={describedBy}
          placeholder={chosen.length === 0 ? placeholder : undefined}
          aria-expanded={found.length > 0}
          autoComplete="off"
          disabled={isDisabled}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setOpen(true);
          }}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
      </div>
      {listbox.list}
    </div>
  );
}

function suggestions(options: readonly Pick[], chosen: readonly Pick[], query: string): readonly Pick[] {
  const taken = new Set(chosen.map(({ key }) => key));
  const free = options.filter(({ key }) => !taken.has(key));
  if (query.trim() === '') return free.slice(0, MAX_SUGGESTIONS);
  return free
    .flatMap((pick) => {
      const rank = rankOf(query, pick.name);
      return rank === null ? [] : [{ pick, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ pick }) => pick);
}
