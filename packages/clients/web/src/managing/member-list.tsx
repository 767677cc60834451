import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import { RowList } from '../kit/row-list.js';
import { PersonButton } from '../people/person-button.js';
import { useChat, useFind } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './managing.module.css';
import { SearchField } from './page-parts.js';

export const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

interface Props {
  readonly userIds: readonly number[];
  readonly label: string;
  readonly isOfBots?: boolean;
  /** Shown below the name. */
  readonly detail?: (userId: number) => ReactNode;
  /** Buttons for a person. */
  readonly children: (userId: number, name: string) => ReactNode;
}

/** People by name, with a search by name and email address, and with buttons. */
export function MemberList({ userIds, label, isOfBots = false, detail, children }: Props) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const [query, setQuery] = useState('');
  const sorted = useMemo(() => {
    const named = userIds.map((id) => ({ id, name: state.people.peek(id)?.user.full_name ?? '' }));
    return named.sort((a, b) => COLLATOR.compare(a.name, b.name)).map(({ id }) => id);
  }, [userIds, state]);
  const found = useFoundPeople(sorted, query);
  const search = isOfBots ? i18n._('Search bots') : i18n._('Search people');
  return (
    <>
      <div className={styles.search}>
        <SearchField label={search} value={query} onChange={setQuery} />
        <span className={styles.hint} role="status">
          {isOfBots
            ? i18n._('{count, plural, one {# bot} other {# bots}}', { count: found.length })
            : i18n._('{count, plural, one {# person} other {# people}}', { count: found.length })}
        </span>
      </div>
      {found.length === 0 ? (
        <p className={styles.empty}>{isOfBots ? i18n._('No bots found') : i18n._('Nobody found')}</p>
      ) : (
        <RowList keys={found} label={label} rowHeight={52}>
          {(id) => (
            <Member userId={id} detail={detail}>
              {children}
            </Member>
          )}
        </RowList>
      )}
    </>
  );
}

/** People found by name and email address, in the given order. */
export function useFoundPeople(userIds: readonly number[], query: string): readonly number[] {
  const { state } = useChat();
  const wanted = useDeferredValue(query.trim());
  useFind(wanted);
  return useMemo(
    () =>
      wanted === ''
        ? userIds
        : userIds.filter((id) => {
            const { full_name: name = '', delivery_email: email } = state.people.peek(id)?.user ?? {};
            return rankOf(wanted, name) !== null || email?.toLowerCase().startsWith(wanted.toLowerCase());
          }),
    [userIds, wanted, state],
  );
}

type MemberProps = Pick<Props, 'children'> & { readonly userId: number; readonly detail: Props['detail'] | undefined };

function Member({ userId, detail, children }: MemberProps) {
  const person = useReading(useChat().people.person(userId));
  return (
    <div className={styles.line}>
      <PersonButton person={person} size={30} className={styles.memberName}>
        <span className={styles.lineMain}>
          <span className={styles.lineTitle}>{person.name}</span>
          {detail && <span className={styles.lineDetail}>{detail(userId)}</span>}
        </span>
      </PersonButton>
      {children(userId, person.name)}
    </div>
  );
}
