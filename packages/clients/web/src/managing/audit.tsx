import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { AuditEntry } from '@parley/client';
import { useEffect, useMemo, useState } from 'react';
import { Avatar } from '../kit/avatar.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { type Pick, PickField } from '../kit/pick-field.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useManagement } from '../services/use-management.js';
import styles from './audit.module.css';
import { Field } from './fields.js';
import managing from './managing.module.css';
import { browserOf, timeOf } from './personal-lists.js';

const PER_PAGE = 100;

interface Filter {
  readonly actor_id?: number;
  readonly user_id?: number;
  readonly action?: string;
  readonly since?: number;
  readonly until?: number;
}

/** Values of the fields; dates as `2026-05-01`. */
interface Chosen {
  readonly who: number | undefined;
  readonly whom: number | undefined;
  readonly what: string;
  readonly since: string;
  readonly until: string;
}

const NOTHING: Chosen = { who: undefined, whom: undefined, what: '', since: '', until: '' };

/** Returns the request parameters. Days are those of the browser's time zone. */
function filterOf({ who, whom, what, since, until }: Chosen): Filter {
  const secondsOf = (day: string, time: string) => Math.floor(new Date(`${day}T${time}`).getTime() / 1000);
  return {
    ...(who !== undefined && { actor_id: who }),
    ...(whom !== undefined && { user_id: whom }),
    ...(what !== '' && { action: what }),
    ...(since !== '' && { since: secondsOf(since, '00:00:00') }),
    ...(until !== '' && { until: secondsOf(until, '23:59:59') }),
  };
}

/** Names of frequent operations, which the filter offers. */
function operationsOf(i18n: I18n): ReadonlyMap<string, string> {
  return new Map([
    ['log-in', i18n._('Log-in')],
    ['failed log-in', i18n._('Failed log-in')],
    ['log-in change', i18n._('Change of log-in data')],
    ['POST /accounts/logout/', i18n._('Log out')],
    ['DELETE /users/me/sessions/:session_id', i18n._('End a session')],
    ['DELETE /users/me/sessions', i18n._('Log out of all other browsers')],
    ['POST /users/me/api_key/regenerate', i18n._('Replace key')],
    ['POST /register_client_device', i18n._('Register device')],
    ['POST /users', i18n._('Add people')],
    ['PATCH /users/:user_id', i18n._('Change person')],
    ['DELETE /users/:user_id', i18n._('Deactivate person')],
    ['POST /users/:user_id/erasure', i18n._('Erase person')],
    ['POST /users/:user_id/reactivate', i18n._('Reactivate person')],
    ['DELETE /users/me', i18n._('Deactivate account')],
    ['DELETE /users/:user_id/second_factors', i18n._('Remove second factors')],
    ['GET /users/:user_id/sessions', i18n._('View sessions')],
    ['DELETE /users/:user_id/sessions', i18n._('Log out everywhere')],
    ['POST /invites', i18n._('Invite by email')],
    ['POST /invites/multiuse', i18n._('Create invitation link')],
    ['POST /bots', i18n._('Create bot')],
    ['PATCH /bots/:bot_id', i18n._('Edit bot')],
    ['PATCH /streams/:stream_id', i18n._('Change channel')],
    ['DELETE /streams/:stream_id', i18n._('Archive channel')],
    ['POST /streams/:stream_id/delete_topic', i18n._('Delete topic')],
    ['POST /user_groups/create', i18n._('Create group')],
    ['PATCH /user_groups/:user_group_id', i18n._('Change group')],
    ['POST /user_groups/:user_group_id/members', i18n._('Change members')],
    ['POST /user_groups/:user_group_id/deactivate', i18n._('Deactivate group')],
    ['PATCH /realm', i18n._('Organization settings')],
    ['PATCH /realm/user_settings_defaults', i18n._('Settings of new people')],
    ['POST /realm/deactivate', i18n._('Deactivate organization')],
    ['POST /export/realm', i18n._('Start export')],
    ['POST /export/users', i18n._('Request data')],
    ['POST /realm/imports/run/start', i18n._('Import an export')],
    ['GET /audit/csv', i18n._('Download audit log')],
  ]);
}

/** Entries of the audit log, for owners. */
export function Audit() {
  const { i18n } = useLingui();
  const { baseUrl } = useServices();
  const [chosen, setChosen] = useState(NOTHING);
  const filter = useMemo(() => filterOf(chosen), [chosen]);
  const { entries, hasMore, loadMore } = useEntries(filter);
  const query = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]));
  const csv = new URL(`api/v1/audit/csv?${query}`, baseUrl).href;
  return (
    <>
      <p className={managing.hint}>{i18n._('Who did what to whom, when and from where.')}</p>
      <Filters chosen={chosen} onChange={setChosen} />
      <div className={styles.tools}>
        <span className={managing.hint} role="status">
          {entries && i18n._('{count, plural, one {# entry} other {# entries}}', { count: entries.length })}
          {hasMore && ' …'}
        </span>
        <a href={csv} download>
          {i18n._('Download as CSV')}
        </a>
      </div>
      {!entries && <Loading />}
      {entries?.length === 0 && <p className={managing.empty}>{i18n._('Nothing found')}</p>}
      <ul className={managing.rows} aria-label={i18n._('Audit log')}>
        {entries?.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
      {hasMore && (
        <button type="button" className={managing.add} onClick={loadMore}>
          {i18n._('Older entries')}
        </button>
      )}
    </>
  );
}

interface FiltersProps {
  readonly chosen: Chosen;
  onChange(chosen: Chosen): void;
}

function Filters({ chosen, onChange }: FiltersProps) {
  const { i18n } = useLingui();
  const operations = [...operationsOf(i18n)].map(([value, label]) => ({ value, label }));
  const set = (changed: Partial<Chosen>) => onChange({ ...chosen, ...changed });
  const day = (name: 'since' | 'until', label: string) => (
    <Field
      setting={{ name, label, kind: 'text', type: 'date', isOptional: true }}
      value={chosen[name]}
      onChange={(value) => set({ [name]: value })}
    />
  );
  return (
    <search className={styles.filters}>
      <PersonField label={i18n._('Who')} value={chosen.who} onChange={(who) => set({ who })} />
      <PersonField label={i18n._('Whom')} value={chosen.whom} onChange={(whom) => set({ whom })} />
      <Field
        setting={{
          name: 'what',
          label: i18n._('What'),
          kind: 'choice',
          options: [{ value: '', label: i18n._('All') }, ...operations],
        }}
        value={chosen.what}
        onChange={(what) => set({ what: String(what) })}
      />
      <div className={styles.days}>
        {day('since', i18n._('From'))}
        {day('until', i18n._('Until'))}
      </div>
    </search>
  );
}

interface PersonFieldProps {
  readonly label: string;
  readonly value: number | undefined;
  onChange(userId: number | undefined): void;
}

/** Field for one person or bot, also deactivated ones. */
function PersonField({ label, value, onChange }: PersonFieldProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const people = useComputed(
    () =>
      state.people.values().map(
        ({ user }): Pick => ({
          key: String(user.user_id),
          name: user.full_name,
          icon: <Avatar url={user.avatar_url} name={user.full_name} size={20} />,
        }),
      ),
    [state],
  );
  return (
    <div className={overlays.field}>
      <span>{label}</span>
      <PickField
        label={label}
        placeholder={i18n._('Everyone')}
        chosen={people.filter(({ key }) => key === String(value))}
        options={people}
        onChange={(keys) => onChange(keys.length === 0 ? undefined : Number(keys.at(-1)))}
      />
    </div>
  );
}

interface Page {
  readonly filter: Filter;
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/** Newest entries that meet the filter, null while they load, and a function that adds older ones. */
function useEntries(filter: Filter) {
  const { api } = useManagement();
  const [page, setPage] = useState<Page | null>(null);
  const current = page?.filter === filter ? page : null;
  useEffect(() => {
    let isWanted = true;
    api.get('/audit', { ...filter, limit: PER_PAGE }).then(({ entries }) => {
      if (isWanted) setPage({ filter, entries, hasMore: entries.length === PER_PAGE });
    }, reportFailure);
    return () => {
      isWanted = false;
    };
  }, [api, filter]);
  const loadMore = () => {
    const before = current!.entries.at(-1)!.id;
    api.get('/audit', { ...filter, before, limit: PER_PAGE }).then(({ entries }) => {
      const add = (now: Page | null): Page | null =>
        // A second click, or another filter, came first.
        now?.filter !== filter || now.entries.at(-1)!.id !== before
          ? now
          : { filter, entries: [...now.entries, ...entries], hasMore: entries.length === PER_PAGE };
      setPage(add);
    }, reportFailure);
  };
  return { entries: current?.entries ?? null, hasMore: current?.hasMore === true, loadMore };
}

/** JSON of an entry; anything, because applications' storages and later releases write it too. */
type Members = Readonly<Record<string, unknown>>;
const membersOf = (json: unknown): Members => (typeof json === 'object' && json !== null ? (json as Members) : {});
const idsOf = (value: unknown): readonly number[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'number');

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { i18n } = useLingui();
  const { actor_id: actor, program, action, time, is_erased } = entry;
  const details = membersOf(entry.details);
  const { method, failure, change } = membersOf(entry.target);
  const changes = Object.entries({ ...membersOf(entry.changes), ...membersOf(details.changes) });
  const { nameOf, objectsOf } = useNames();
  const programs: Readonly<Record<string, string>> = {
    application: i18n._('Application'),
    command: i18n._('Command line'),
    directory: i18n._('Directory'),
    scim: 'SCIM',
  };
  const who = actor === null ? (program === null ? i18n._('Unknown') : (programs[program] ?? program)) : nameOf(actor);
  const origin = [details.ip, typeof details.userAgent === 'string' && browserOf(details.userAgent)];
  const names = [method, change, failure].filter((each) => typeof each === 'string');
  const members = (['added', 'removed'] as const).flatMap((name) => {
    const ids = idsOf(membersOf(entry.target)[name]);
    return ids.length === 0 ? [] : [`${name}: ${ids.map(nameOf).join(', ')}`];
  });
  const label = operationsOf(i18n).get(action);
  return (
    <li className={styles.entry}>
      <div className={styles.head}>
        <strong>{label ?? action}</strong>
        <time dateTime={new Date(time * 1000).toISOString()}>{timeOf(time, i18n)}</time>
      </div>
      <dl className={styles.facts}>
        <Fact name={i18n._('Who')}>{who}</Fact>
        <Fact name={i18n._('Whom')}>{objectsOf(entry).join(', ')}</Fact>
        <Fact name={i18n._('From where')} className={styles.origin}>
          {is_erased ? i18n._('Erased') : origin.filter((each) => typeof each === 'string').join(' · ')}
        </Fact>
      </dl>
      {(names.length > 0 || changes.length > 0 || members.length > 0) && (
        <ul className={styles.changes} aria-label={i18n._('Changes')} dir="ltr">
          {names.length > 0 && <li>{names.join(' · ')}</li>}
          {changes.map(([name, value]) => (
            <li key={name}>{changeText(name, membersOf(value))}</li>
          ))}
          {members.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

interface FactProps {
  readonly name: string;
  readonly className?: string | undefined;
  /** Empty for an unknown fact, which is not shown. */
  readonly children: string;
}

const Fact = ({ name, className, children }: FactProps) =>
  children !== '' && (
    <div className={className}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );

/** Returns the old and new value; only the name if the values are not recorded. */
function changeText(name: string, { from, to }: Members): string {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return from === undefined && to === undefined ? name : `${name}: ${textOf(from)} → ${textOf(to)}`;
}

/** Present names of people and of the objects of entries. */
function useNames() {
  const { state, people } = useChat();
  const nameOf = (userId: number) => people.person(userId).peek().name;
  const objectsOf = (entry: AuditEntry): readonly string[] => {
    const { user_ids, stream_id, channel_ids, user_group_id } = membersOf(entry.target);
    const users = new Set([...idsOf(entry.user_id), ...idsOf(user_ids)]);
    users.delete(entry.actor_id ?? 0);
    const channels = [...idsOf(stream_id), ...idsOf(channel_ids)];
    return [
      ...[...users].map(nameOf),
      ...channels.map((id) => `#${state.channels.peek(id)?.channel.name ?? id}`),
      ...idsOf(user_group_id).map((id) => `@${state.groups.peek(id)?.name ?? id}`),
    ];
  };
  return { nameOf, objectsOf };
}
