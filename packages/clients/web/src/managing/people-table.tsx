import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef, useState } from 'react';
import { ArrowDown, ArrowUp, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import { PersonButton } from '../people/person-button.js';
import { useChat, useComputed } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { useReading } from '../services/use-reading.js';
import { askFirst, ValuesDialog } from './form.js';
import { COLLATOR, useFoundPeople } from './member-list.js';
import { SearchField } from './page-parts.js';
import styles from './people-table.module.css';
import { ROLE, rolesOf } from './roles.js';

type Role = 100 | 200 | 300 | 400 | 600;
type Column = 'name' | 'role' | 'seen';

interface Sorting {
  readonly column: Column;
  readonly isDescending: boolean;
}

interface Props {
  readonly userIds: readonly number[];
  /** True if rows can be selected for actions on several people. */
  readonly isSelectable: boolean;
  /** Buttons for a person. */
  readonly children: (userId: number, name: string) => ReactNode;
}

const ROW_PX = 52;

/** Table of people with role and last visit, with search, sorting and bulk actions. */
export function PeopleTable({ userIds, isSelectable, children }: Props) {
  const { i18n } = useLingui();
  const [query, setQuery] = useState('');
  const [sorting, setSorting] = useState<Sorting>({ column: 'name', isDescending: false });
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { rights } = useManagement();
  const { selfId } = useChat().state;
  const found = useFoundPeople(userIds, query);
  const rows = useSorted(found, sorting);
  // Excludes the users themselves, who could lose the rights to change the others.
  const changeable = useComputed(
    () => new Set(rows.filter((id) => id !== selfId && rights.administers(id))),
    [rows, rights, selfId],
  );
  const selected = isSelectable ? rows.filter((id) => chosen.has(id) && changeable.has(id)) : [];
  const choose = (ids: Iterable<number>, isChosen: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) isChosen ? next.add(id) : next.delete(id);
    setChosen(next);
  };
  return (
    <>
      <div className={styles.tools}>
        <SearchField label={i18n._('Search people')} value={query} onChange={setQuery} />
        <span className={styles.count} role="status">
          {i18n._('{count, plural, one {# person} other {# people}}', { count: rows.length })}
        </span>
        {selected.length > 0 && <Bulk ids={selected} onClear={() => setChosen(new Set())} />}
      </div>
      {rows.length === 0 ? (
        <p className={styles.none}>{i18n._('Nobody found')}</p>
      ) : (
        <Table
          rows={rows}
          sorting={sorting}
          onSort={setSorting}
          selection={isSelectable ? { selected: new Set(selected), changeable, choose } : null}
        >
          {children}
        </Table>
      )}
    </>
  );
}

function useSorted(ids: readonly number[], { column, isDescending }: Sorting): readonly number[] {
  const { state } = useChat();
  return useComputed(() => {
    // Subscribes to all people and visits at once.
    state.people.values();
    if (column === 'seen') state.presences.values();
    const values = new Map(
      ids.map((id) => {
        const user = state.people.peek(id)?.user;
        const value = column === 'role' ? (user?.role ?? 0) : column === 'seen' ? -seenAt(state.presences.peek(id)) : 0;
        return [id, { value, name: user?.full_name ?? '' }];
      }),
    );
    const sorted = [...ids].sort((a, b) => {
      const [first, second] = [values.get(a)!, values.get(b)!];
      return first.value - second.value || COLLATOR.compare(first.name, second.name);
    });
    return isDescending ? sorted.reverse() : sorted;
  }, [ids, column, isDescending, state]);
}

interface Presence {
  readonly active_timestamp?: number;
  readonly idle_timestamp?: number;
}

/** Unix seconds of the last visit; 0 if unknown. */
const seenAt = (presence: Presence | undefined): number =>
  Math.max(presence?.active_timestamp ?? 0, presence?.idle_timestamp ?? 0);

interface Selection {
  readonly selected: ReadonlySet<number>;
  /** Other people whom the user may change. */
  readonly changeable: ReadonlySet<number>;
  choose(ids: Iterable<number>, isChosen: boolean): void;
}

interface TableProps {
  readonly rows: readonly number[];
  readonly sorting: Sorting;
  readonly selection: Selection | null;
  onSort(sorting: Sorting): void;
  readonly children: Props['children'];
}

/** Draws only visible rows. */
function Table({ rows, sorting, selection, onSort, children }: TableProps) {
  const { i18n } = useLingui();
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]!,
    overscan: 6,
  });
  const columns: readonly (readonly [Column, string])[] = [
    ['name', i18n._('Name')],
    ['role', i18n._('Role')],
    ['seen', i18n._('Last seen')],
  ];
  const drawn = virtual.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    <div ref={frame} className={styles.frame}>
      <table className={styles.table} aria-label={i18n._('People')} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {selection && (
              <th className={styles.choice}>
                <input
                  type="checkbox"
                  aria-label={i18n._('Select all')}
                  checked={selection.changeable.size > 0 && selection.selected.size === selection.changeable.size}
                  onChange={({ target }) => selection.choose(selection.changeable, target.checked)}
                />
              </th>
            )}
            {columns.map(([column, title]) => (
              <ColumnHead key={column} column={column} title={title} sorting={sorting} onSort={onSort} />
            ))}
            <td className={styles.actions} />
          </tr>
        </thead>
        <tbody>
          <Space height={above} />
          {drawn.map(({ index }) => (
            <tr key={rows[index]} ref={virtual.measureElement} data-index={index} aria-rowindex={index + 2}>
              <Person userId={rows[index]!} selection={selection}>
                {children}
              </Person>
            </tr>
          ))}
          <Space height={below} />
        </tbody>
      </table>
    </div>
  );
}

/** Spacer for rows outside the visible part. */
const Space = ({ height }: { readonly height: number }) =>
  height > 0 && (
    <tr aria-hidden>
      <td style={{ height, padding: 0 }} />
    </tr>
  );

interface ColumnHeadProps extends Pick<TableProps, 'sorting' | 'onSort'> {
  readonly column: Column;
  readonly title: string;
}

function ColumnHead({ column, title, sorting, onSort }: ColumnHeadProps) {
  const isSorted = sorting.column === column;
  const Arrow = sorting.isDescending ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      data-column={column}
      aria-sort={isSorted ? (sorting.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        className={styles.sort}
        onClick={() => onSort({ column, isDescending: isSorted && !sorting.isDescending })}
      >
        {title} {isSorted && <Arrow size={14} aria-hidden />}
      </button>
    </th>
  );
}

interface PersonProps extends Pick<TableProps, 'selection' | 'children'> {
  readonly userId: number;
}

/** Cells of a person. */
function Person({ userId, selection, children }: PersonProps) {
  const { i18n } = useLingui();
  const { state, people } = useChat();
  const person = useReading(people.person(userId));
  const user = useComputed(() => state.people.get(userId)?.user, [state, userId]);
  const role = rolesOf(i18n).find(({ value }) => value === user?.role)?.label;
  const seen = useSeenText(userId, i18n);
  return (
    <>
      {selection && (
        <td>
          {selection.changeable.has(userId) && (
            <input
              type="checkbox"
              aria-label={i18n._('Select {name}', { name: person.name })}
              checked={selection.selected.has(userId)}
              onChange={({ target }) => selection.choose([userId], target.checked)}
            />
          )}
        </td>
      )}
      <td>
        <PersonButton person={person} size={30} className={styles.person}>
          <span className={styles.texts}>
            <bdi className={styles.name}>{person.name}</bdi>
            <span className={styles.detail}>
              <span className={styles.narrow}>{[role, seen].filter(Boolean).join(' · ')}</span>
              <span className={styles.wide}>{user?.delivery_email}</span>
            </span>
          </span>
        </PersonButton>
      </td>
      <td data-column="role">{role}</td>
      <td data-column="seen">{seen}</td>
      <td className={styles.actions}>{children(userId, person.name)}</td>
    </>
  );
}

function useSeenText(userId: number, i18n: I18n): string {
  const { state, people } = useChat();
  const { presence } = useReading(people.person(userId));
  const seconds = useComputed(() => seenAt(state.presences.get(userId)), [state, userId]);
  if (presence === 'active') return i18n._('Active now');
  if (presence === 'idle') return i18n._('Idle');
  return seconds === 0 ? '' : i18n.date(new Date(seconds * 1000), { dateStyle: 'medium' });
}

/** Bulk actions for selected people. A retry after a failure skips people who are already changed. */
function Bulk({ ids, onClear }: { readonly ids: readonly number[]; readonly onClear: () => void }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const count = ids.length;
  const isOwner = useComputed(() => rights.isOwner, [rights]);
  const deactivate = async () => {
    const active = ids.filter((id) => state.people.peek(id)?.list === 'realm_users');
    for (const id of active) await api.delete('/users/{user_id}', { user_id: id });
    onClear();
  };
  const changeRole = async (role: Role) => {
    const others = ids.filter((id) => state.people.peek(id)?.user.role !== role);
    for (const id of others) await api.patch('/users/{user_id}', { user_id: id, role });
    onClear();
  };
  return (
    <span className={styles.bulk}>
      <span role="status">{i18n._('{count, plural, one {# selected} other {# selected}}', { count })}</span>
      <button
        type="button"
        className={overlays.button}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) =>
          openOverlay(currentTarget, async () => (
            <ValuesDialog
              title={i18n._('{count, plural, one {Role of # person} other {Role of # people}}', { count })}
              action={i18n._('Change role')}
              values={{ role: ROLE.member }}
              settings={[
                {
                  name: 'role',
                  label: i18n._('Role'),
                  kind: 'choice',
                  options: rolesOf(i18n).filter(({ value }) => isOwner || value !== ROLE.owner),
                },
              ]}
              onSubmit={({ role }) => changeRole(role as Role)}
            />
          ))
        }
      >
        {i18n._('Change role')}
      </button>
      <button
        type="button"
        className={overlays.button}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) =>
          askFirst(currentTarget, {
            title: i18n._('{count, plural, one {Deactivate # person?} other {Deactivate # people?}}', { count }),
            action: i18n._('Deactivate'),
            text: i18n._('They and their bots are logged out immediately. Their messages stay.'),
            onConfirm: deactivate,
          })
        }
      >
        {i18n._('Deactivate')}
      </button>
      <IconButton icon={X} label={i18n._('Clear the selection')} onClick={onClear} />
    </span>
  );
}
