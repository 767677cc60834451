import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { X } from 'lucide-react';
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { Avatar } from '../kit/avatar.js';
import { FormDialog } from '../kit/dialog.js';
import { useChat, useNames, useServices } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './people.module.css';

const MAX_SUGGESTIONS = 8;

/** Chooses the people of a direct conversation and opens it. */
export function DirectDialog() {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const [chosen, setChosen] = useState<readonly number[]>([]);
  return (
    <FormDialog
      title={i18n._('New direct message')}
      action={i18n._('Continue')}
      isDisabled={chosen.length === 0}
      onSubmit={async () => {
        const operand = [...chosen].sort((a, b) => a - b);
        navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'dm', operand }], near: null }));
      }}
    >
      <PeopleField chosen={chosen} onChange={setChosen} />
    </FormDialog>
  );
}

interface FieldProps {
  readonly chosen: readonly number[];
  onChange(chosen: readonly number[]): void;
}

/** Field for several people, found by parts of their names. */
function PeopleField({ chosen, onChange }: FieldProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const listId = useId();
  const names = useNames(chosen);
  const all = useReading(chat.people.byPresence);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const found = useMemo(() => {
    const rank = (id: number) => rankOf(query, chat.state.people.peek(id)!.user.full_name);
    return all
      .filter((id) => id !== chat.state.selfId && !chosen.includes(id) && rank(id) !== null)
      .slice(0, MAX_SUGGESTIONS);
  }, [all, chosen, query, chat]);
  const add = (id: number | undefined) => {
    if (id === undefined) return;
    onChange([...chosen, id]);
    setQuery('');
    setActive(0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setActive((active + 1) % Math.max(1, found.length));
    else if (event.key === 'ArrowUp') setActive((active + found.length - 1) % Math.max(1, found.length));
    // Without a query, Enter opens the conversation with the people chosen so far.
    else if (event.key === 'Enter' && (query.trim() !== '' || chosen.length === 0)) add(found[active]);
    else if (event.key === 'Backspace' && query === '') onChange(chosen.slice(0, -1));
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.field}>
      <div className={styles.chips}>
        {chosen.map((id, index) => (
          <span key={id} className={styles.chip}>
            {names[index]}
            <button
              type="button"
              aria-label={i18n._('Remove {name}', { name: names[index] ?? '' })}
              onClick={() => onChange(chosen.filter((each) => each !== id))}
            >
              <X size={14} aria-hidden />
            </button>
          </span>
        ))}
        <input
          role="combobox"
          aria-label={i18n._('People')}
          placeholder={i18n._('Names')}
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
          autoComplete="off"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={styles.options} id={listId} role="listbox" aria-label={i18n._('People')}>
        {found.map((id, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option.
          <div
            key={id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            className={styles.option}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => add(id)}
          >
            <Option id={id} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Option({ id }: { readonly id: number }) {
  const { name, avatarUrl } = useReading(useChat().people.person(id));
  return (
    <>
      <Avatar url={avatarUrl} name={name} size={26} /> {name}
    </>
  );
}
