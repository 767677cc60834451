import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { X } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { FormDialog } from '../kit/dialog.js';
import { useListbox } from '../kit/listbox.js';
import { useChat, useFind, useNames, useServices } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './people.module.css';

const MAX_SUGGESTIONS = 8;

/** Chooses the people of a direct conversation and opens it. */
export function DirectDialog() {
  const { i18n } = useLingui();
  const { chat, drafts, navigation } = useServices();
  const [chosen, setChosen] = useState<readonly number[]>([]);
  return (
    <FormDialog
      title={i18n._('New direct message')}
      action={i18n._('Continue')}
      isDisabled={chosen.length === 0}
      onSubmit={async () => {
        const operand = [...chosen].sort((a, b) => a - b);
        drafts.begin({ kind: 'direct', userIds: operand }, '');
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
  const names = useNames(chosen);
  const people = useReading(chat.people.byPresence);
  const [query, setQuery] = useState('');
  useFind(query);
  // Bots come last and are only found by name.
  const all = useMemo(
    () => (query.trim() === '' ? people : [...new Set([...people, ...chat.people.ids.peek()])]),
    [people, query, chat],
  );
  const found = useMemo(() => {
    const rank = (id: number) => rankOf(query, chat.state.people.peek(id)!.user.full_name);
    return all
      .filter((id) => id !== chat.state.selfId && !chosen.includes(id) && rank(id) !== null)
      .slice(0, MAX_SUGGESTIONS);
  }, [all, chosen, query, chat]);
  const listbox = useListbox({
    label: i18n._('People'),
    query: `${query} ${chosen}`,
    options: found,
    className: styles.options,
    keyOf: (id) => id,
    draw: (id) => <Option id={id} />,
    onPick: (id) => {
      onChange([...chosen, id]);
      setQuery('');
    },
  });
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter with an empty query opens the conversation with the chosen people.
    const isSubmit = event.key === 'Enter' && query.trim() === '' && chosen.length > 0;
    if (isSubmit || listbox.onKeyDown(event)) return;
    if (event.key === 'Enter') event.preventDefault();
    if (event.key === 'Backspace' && query === '') onChange(chosen.slice(0, -1));
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
          {...listbox.fieldProps}
          role="combobox"
          aria-label={i18n._('People')}
          placeholder={i18n._('Names')}
          aria-expanded={found.length > 0}
          autoComplete="off"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      {listbox.list}
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
