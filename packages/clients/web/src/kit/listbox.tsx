import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { isComposing } from '../services/letter-keys.js';
import styles from './listbox.module.css';

interface Options<T> {
  readonly label: string;
  /** Query of the options; a change activates the first option. */
  readonly query: unknown;
  readonly options: readonly T[];
  /** Additional class of the list. */
  readonly className?: string | undefined;
  keyOf(option: T): string | number;
  draw(option: T): ReactNode;
  onPick(option: T): void;
}

interface Listbox<T> {
  /** Properties of the text field, which keeps the focus. */
  readonly fieldProps: {
    readonly 'aria-autocomplete': 'list';
    readonly 'aria-controls': string | undefined;
    readonly 'aria-activedescendant': string | undefined;
  };
  /** Option selected by Enter. */
  readonly active: T | undefined;
  /** Returns true if the list handled the key: arrow keys and Enter. */
  onKeyDown(event: KeyboardEvent): boolean;
  readonly list: ReactNode;
}

interface Chosen {
  readonly query: unknown;
  /** Null for the first option. */
  readonly key: string | number | null;
}

/** Options below a text field, selected by keyboard, mouse or touch. */
export function useListbox<T>({ label, query, options, className, keyOf, draw, onPick }: Options<T>): Listbox<T> {
  const listId = useId();
  const [chosen, setChosen] = useState<Chosen>({ query, key: null });
  const { length } = options;
  // Other options can appear above the chosen one.
  const found = options.findIndex((each) => keyOf(each) === chosen.key);
  const index = chosen.query === query && found > 0 ? found : 0;
  const choose = (at: number) => setChosen({ query, key: keyOf(options[at % length]!) });
  const optionId = (at: number) => `${listId}-${at}`;
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (length === 0 || isComposing(event.nativeEvent) || ctrlKey || metaKey || altKey || shiftKey) return false;
    if (key === 'ArrowDown') choose(index + 1);
    else if (key === 'ArrowUp') choose(index + length - 1);
    else if (key === 'Enter') onPick(options[index]!);
    else return false;
    event.preventDefault();
    return true;
  };
  return {
    fieldProps: {
      'aria-autocomplete': 'list',
      'aria-controls': length > 0 ? listId : undefined,
      'aria-activedescendant': length > 0 ? optionId(index) : undefined,
    },
    active: options[index],
    onKeyDown,
    list: length > 0 && (
      <div id={listId} role="listbox" aria-label={label} className={className}>
        {options.map((option, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option.
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: options for other keys reuse the elements.
            key={at}
            id={optionId(at)}
            role="option"
            aria-selected={at === index}
            className={styles.option}
            // Keeps the focus in the field and, on phones, the keyboard open.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(option)}
          >
            {draw(option)}
          </div>
        ))}
      </div>
    ),
  };
}
