import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { useDeferredValue, useMemo, useState } from 'react';
import { X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed, useField, useFind, usePlace } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './people.module.css';
import { PeopleList } from './people-list.js';

/** All people: first the members of the open channel, of which present ones come first. Muted people are only found by name. */
export function PeoplePanel({ onClose }: { readonly onClose?: () => void }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const all = useReading(chat.people.byPresence);
  const muted = useField('muted_users');
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim());
  useFind(wanted);
  const channelId = usePlace((place) => place.channelId);
  const members = useComputed(() => chat.state.subscribers.get(channelId ?? 0), [chat, channelId]);
  const found = useMemo(() => {
    const isMember = new Set(members);
    return all
      .filter((id) =>
        wanted === ''
          ? !muted?.some((person) => person.id === id)
          : rankOf(wanted, chat.state.people.peek(id)!.user.full_name) !== null,
      )
      .sort((a, b) => Number(isMember.has(b)) - Number(isMember.has(a)));
  }, [all, wanted, muted, members, chat]);
  return (
    <aside className={styles.panel} data-beside={onClose !== undefined || undefined} aria-label={i18n._('People')}>
      <header className={styles.panelHeader}>
        <h2>{i18n._('People')}</h2>
        {onClose && <IconButton icon={X} label={i18n._('Close')} onClick={onClose} />}
      </header>
      <input
        type="search"
        className={styles.filter}
        aria-label={i18n._('Search people')}
        placeholder={i18n._('Search people')}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      {found.length === 0 ? (
        <p className={styles.none}>{i18n._('Nobody found')}</p>
      ) : (
        <PeopleList userIds={found} label={i18n._('People')} isFilling />
      )}
    </aside>
  );
}
